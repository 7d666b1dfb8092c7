from ._core import *
from ._core import __version__
