"""Looks for secrets in every byte of a trail: as it is, and after every page of its Parquet files is unpacked."""

import pathlib

import pyarrow
import pyarrow.parquet


def contents(trail):
    """[(what, bytes)]: names, files, and pages, in lower case."""
    found = []
    for path in sorted(pathlib.Path(trail).rglob("*")):
        found.append((f"the name of {path.name}", path.name.lower().encode()))
        if not path.is_file():
            continue
        data = path.read_bytes()
        found.append((path.name, data.lower()))
        if path.suffix == ".parquet":
            found += [(f"{path.name}: {what}", page.lower()) for what, page in unpacked(path, data)]
    return found


def unpacked(path, data):
    file = pyarrow.parquet.ParquetFile(path)
    metadata = file.metadata
    yield "key-value metadata", repr(metadata.metadata).encode()
    # Statistics stand in the footer as they are: they are among the bytes of the file.
    yield "schema", str(file.schema_arrow).encode()
    for group in range(metadata.num_row_groups):
        for number in range(metadata.num_columns):
            column = metadata.row_group(group).column(number)
            start = column.data_page_offset
            if column.has_dictionary_page and column.dictionary_page_offset:
                start = min(start, column.dictionary_page_offset)
            end = start + column.total_compressed_size
            for at, page in pages(data, start, end, column.compression):
                yield f"row group {group}, {column.path_in_schema}, byte {at}", page


def pages(data, start, end, codec):
    """Own reader of page headers (Thrift's compact protocol), so that nothing is believed of the library that wrote them."""
    at = start
    while at < end:
        header, body = structure(data, at)
        size, packed = header[2], header[3]
        page = data[body : body + packed]
        levels = 0
        if header[1] == 3:
            levels = header[8].get(5, 0) + header[8].get(6, 0)
        if codec != "UNCOMPRESSED" and packed > levels:
            unpacked_page = pyarrow.decompress(page[levels:], decompressed_size=size - levels, codec=codec.lower(), asbytes=True)
            yield at, page[:levels] + unpacked_page
        else:
            yield at, page
        at = body + packed
    assert at == end, f"pages end at {at}, not at {end}"


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def structure(data, at):
    fields, number = {}, 0
    while True:
        head = data[at]
        at += 1
        if head == 0:
            return fields, at
        if head >> 4:
            number += head >> 4
        else:
            value, at = varint(data, at)
            number = (value >> 1) ^ -(value & 1)
        kind = head & 15
        if kind in (1, 2):
            fields[number] = kind == 1
        elif kind in (4, 5, 6):
            value, at = varint(data, at)
            fields[number] = (value >> 1) ^ -(value & 1)
        elif kind == 8:
            length, at = varint(data, at)
            fields[number], at = data[at : at + length], at + length
        elif kind == 12:
            fields[number], at = structure(data, at)
        else:
            raise ValueError(f"a page header with a field of type {kind}")


def search(trail, needles):
    """{secret: (needle, where)}: the first place of each secret that is found."""
    places = contents(trail)
    everything = b"\n".join(data for _, data in places)
    found = {}
    for secret, texts in needles.items():
        for text in texts:
            if text in everything:
                found[secret] = (text, next((what for what, data in places if text in data), "?"))
                break
    return found
