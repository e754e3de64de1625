"""Files of programs that find the keypoints of bodies in pictures."""
