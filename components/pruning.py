"""What a chart may leave out for speed: the registered object for the setting `pruning` of `lpcfg_parser`."""

from spacy_lpcfg.chart import Settings


def make_pruning(
    threshold: float = Settings.threshold,
    edge_threshold: float = Settings.edge_threshold,
    beam: float = Settings.beam,
    tag_threshold: float = Settings.tag_threshold,
    boundary_threshold: float = Settings.boundary_threshold,
    boundary_merit: bool = Settings.boundary_merit,
    retry_beam: float | None = Settings.retry_beam,
    cascade: float = Settings.cascade,
    prefix_threshold: float = Settings.prefix_threshold,
) -> Settings:
    """`spacy-lpcfg.Pruning.v1`; settings as of `spacy_lpcfg.chart.Settings`.

    Raises ValueError if a share or a probability is not from 0 to 1
    """
    return Settings(
        threshold=threshold,
        edge_threshold=edge_threshold,
        beam=beam,
        tag_threshold=tag_threshold,
        boundary_threshold=boundary_threshold,
        boundary_merit=boundary_merit,
        retry_beam=retry_beam,
        cascade=cascade,
        prefix_threshold=prefix_threshold,
    )
