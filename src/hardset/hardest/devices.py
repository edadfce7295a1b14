"""Whether torch can compute where it is told to."""

from __future__ import annotations

from hardset.errors import UsageError


def see_device(device: str) -> None:
    """See that torch computes on a device, before anything is trained.

    Raises:
        UsageError: it does not.
    """
    import torch

    if device.startswith("cuda") and not torch.cuda.is_available():
        raise UsageError(f"--device {device}: torch finds no GPU here; leave it out")
    try:
        float(torch.ones(1, device=device).sum())
    except Exception as error:  # of many kinds: an unknown name, a GPU of another number
        raise UsageError(
            f"--device {device}: torch does not compute there "
            f"({' '.join(str(error).split())[:150]}); give cpu or cuda"
        ) from error
