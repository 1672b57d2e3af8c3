"""Constants and closed forms of the theorems: what is predicted, never what is run."""
