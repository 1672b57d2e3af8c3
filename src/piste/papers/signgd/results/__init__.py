"""The results of the paper, one module for each, in the order in which it states them.

A module has the measurement of its result, the claims that judge it (``CLAIMS``) and the
tables that show it (``TABLES``):

- ``stage_order``: four stages, in order, beside the times of the slides
- ``stage_1``, ``stage_2``, ``stage_3``: what is said of each of the first three
- ``stage_4_alignment``: when the alignments of stage IV begin and end
- ``table_1``: the signs of query and key noise at t = 0 and t = 10
- ``stage_4_attention``: attention before and in stage IV
- ``theorem``: the theorem, item by item
- ``adam``: Adam beside SignGD
- ``training_speed``: SignGD beside GD and normalised GD
- ``synthetic_generalisation``, ``image_generalisation``: test errors against SNR
- ``persistence``: the stages beyond the paper

Modules with an underscore have what several results share.
"""
