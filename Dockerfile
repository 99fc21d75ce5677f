# A service that answers CoreNLP's clients: docs/deploy.md says how to build, run and measure it.
ARG PYTHON=3.12

FROM python:${PYTHON} AS build
COPY . /source
RUN pip wheel --no-deps --wheel-dir /wheels /source
RUN python -m venv --without-pip /service \
    && pip --python /service/bin/python install --no-compile /wheels/*.whl
# What parsing does without: libraries for learning, tests, sources of kernels, symbols for debuggers.
RUN pip --python /service/bin/python uninstall --yes scikit-learn scipy joblib narwhals
RUN cd /service/lib/python3*/site-packages \
    && find . -type d -name tests -prune -exec rm -r {} + \
    && find . -type f -regex '.*\.\(pyx\|pxd\|c\|cpp\|h\|hh\)' -delete \
    && find blis cymem murmurhash preshed spacy srsly thinc -name '*.so' -exec strip --strip-unneeded {} + \
    && python -m compileall -q .

FROM python:${PYTHON}-slim
COPY --from=build /service /service
RUN useradd --system service
USER service
ENV PATH=/service/bin:$PATH
EXPOSE 9000
HEALTHCHECK --start-period=30s CMD ["python", "-c", "from urllib.request import urlopen; urlopen('http://localhost:9000/ready', timeout=5)"]
CMD ["spacy-lpcfg", "corenlp", "en", "--host", "0.0.0.0", "--workers", "2"]
