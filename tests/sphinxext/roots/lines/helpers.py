"""Helpers."""


class Model:
    """A model.

    Words.
    """

    def forward(self) -> None:
        """Compute.

        .. autograd-graph:: z

           z = 1
           y = 2
           raise ValueError("in a docstring")
        """
