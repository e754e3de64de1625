"""The methods, one a file; each implements `core.solvers.solver.Algorithm`."""

from .admm import ADMM
from .agd import AGD
from .algorithm_one import AlgorithmOne
from .bmm import BMM, RBMM
from .irnn import IRNN
from .levenberg_marquardt import LevenbergMarquardt
from .majorized import Majorized
from .methods import METHODS, PROBLEMS, Method
from .reweighted import Reweighted
from .solver import Algorithm, Progress, Snapshot, Status, iterate, set_solver_threads, single_threaded, solve
from .variable_projection import VariableProjection
