"""HARDBench's images come from six publishers; each row's `data_source` says from which.

Licences as their own pages give them. Images under a research licence, and images that are
addresses in somebody's rows, are not fetched here: the user is told the steps.
"""

from __future__ import annotations

from collections.abc import Mapping

from hardset.sources.pictures import ImageSource

_SA_1B = (
    "SA-1B research licence",
    "Its images come from SA-1B, for research only: read the licence at "
    "https://ai.meta.com/datasets/segment-anything/ first. If you accept it, download them with "
    "`hf download {repo} --repo-type dataset --local-dir DIR`.",
)


def _research(title: str, repo: str) -> ImageSource:
    licence, steps = _SA_1B
    return ImageSource(title, licence, repo=repo, steps=steps.format(repo=repo))


IMAGES: Mapping[str, ImageSource] = {
    "pixmo": ImageSource(
        "PixMo-Count",
        "ODC-BY-1.0",
        repo="allenai/pixmo-count",
        steps="Its rows hold addresses of images (`image_url`), not files, and each image has its "
        "own owner: download those that your rows name, and compare `image_sha256`.",
    ),
    "tally": ImageSource(
        "TallyQA",
        "Apache-2.0",
        steps="Its images are COCO's (https://cocodataset.org/#download: train2014, val2014) and "
        "Visual Genome's (https://homes.cs.washington.edu/~ranjay/visualgenome/api.html: VG_100K, "
        "VG_100K_2): download and unpack both.",
    ),
    "arxiv": ImageSource("ArxivQA", "CC-BY-SA-4.0", repo="MMInstruction/ArxivQA", fetchable=True),
    "cof": _research("CoF-RL-Data", "xintongzhang/CoF-RL-Data"),
    "star": _research("V*Bench", "craigwu/vstar_bench"),
    "realx": ImageSource("RealX-Bench", "Apache-2.0", repo="glowol/RealXBench", fetchable=True),
}
"""By a word that the source's plain name has in it."""
