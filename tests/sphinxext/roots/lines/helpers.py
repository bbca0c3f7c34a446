"""Helpers."""


class Model:
    """A model.

    Words.
    """

    size: int = 1
    """The size.

    .. autograd-exec::
       :session: attribute

       z = 1
       raise ValueError("in the docstring of an attribute")
    """

    def forward(self) -> None:
        """Compute.

        .. autograd-graph:: z

           z = 1
           y = 2
           raise ValueError("in a docstring")
        """
