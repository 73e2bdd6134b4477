"""The name by which lesson 14 imports `experiments.choosing`."""

from fourways.experiments.choosing import Situation, advise, choose, costs, figure, recorded, tree  # noqa: F401
