"""Colours for up to eight series in one panel."""

from piste.figures import BLACK, BLUE, GREEN, ORANGE, PINK, SKY, YELLOW

COLOURS = (BLUE, ORANGE, GREEN, PINK, SKY, YELLOW, BLACK, "#888888")
