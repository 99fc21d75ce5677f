"""What a chart may leave out for speed: the registered object for the setting `pruning` of `lpcfg_parser`."""

from spacy_lpcfg.chart import ChartSettings


def make_pruning(
    threshold: float = ChartSettings.threshold,
    edge_threshold: float = ChartSettings.edge_threshold,
    beam: float = ChartSettings.beam,
    tag_threshold: float = ChartSettings.tag_threshold,
    boundary_threshold: float = ChartSettings.boundary_threshold,
    boundary_merit: bool = ChartSettings.boundary_merit,
    retry_beam: float | None = ChartSettings.retry_beam,
    cascade: float = ChartSettings.cascade,
    prefix_threshold: float = ChartSettings.prefix_threshold,
) -> ChartSettings:
    """`spacy-lpcfg.Pruning.v1`; settings as of `spacy_lpcfg.chart.Settings`.

    Raises ValueError if a share or a probability is not from 0 to 1
    """
    return ChartSettings(
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
