"""Figures: trajectory in, picture out, one style."""

from . import landscape as landscape
from .overview import OVERVIEWS, overview, plain_overview, run_overview, series_table
from .pathfinder import pathfinder
from .style import (
    BLACK,
    BLUE,
    GREEN,
    ORANGE,
    PINK,
    SKY,
    YELLOW,
    Picture,
    canvas,
    end_label,
    inside_label,
    shade,
    stage_bands,
    stages_found,
    styled,
    time_axis,
)

__all__ = [
    "BLACK",
    "BLUE",
    "GREEN",
    "ORANGE",
    "OVERVIEWS",
    "PINK",
    "SKY",
    "YELLOW",
    "Picture",
    "canvas",
    "end_label",
    "inside_label",
    "landscape",
    "overview",
    "pathfinder",
    "plain_overview",
    "run_overview",
    "series_table",
    "shade",
    "stage_bands",
    "stages_found",
    "styled",
    "time_axis",
]
