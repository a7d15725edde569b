"""CSV files as arrays of numbers: reading, splitting, encoding. The target is the first column, there is no header."""

import array
import csv
import dataclasses
import glob
import hashlib
import itertools
import os

import numpy as np

from vernier_trainers.group import ALONE
from vernier_trainers.reports import UserError, log

MAX_CATEGORIES = 1000
MAX_MISSING = 0.1  # Of a row; with more it is left out when preprocessing.
CHUNK = 50_000  # Rows.


# --- tables ---

@dataclasses.dataclass
class Table:
    """Columns of floats (NaN: missing) or of text (None: missing)."""
    columns: list
    paths: list
    lines: array.array  # Of each row, in its file.
    files: array.array  # Which of the paths.

    def __len__(self):
        return len(self.lines)

    def where(self, row):
        return f"{self.paths[self.files[row]]}, line {self.lines[row]}"

    def take(self, rows):
        return Table([column[rows] for column in self.columns], self.paths,
                     array.array("q", np.asarray(self.lines)[rows].tolist()),
                     array.array("q", np.asarray(self.files)[rows].tolist()))


def is_text(column):
    return column.dtype == object


def missing(column):
    return np.equal(column, None) if is_text(column) else np.isnan(column)


def paths_of(pattern, argument):
    if "://" in pattern:
        raise UserError(f"--{argument}: must be a file of this host, got '{pattern}'")
    if not os.path.exists(pattern) and glob.has_magic(pattern):
        paths = sorted(glob.glob(pattern))
        if not paths:
            raise UserError(f"--{argument}: no file matches '{pattern}'")
        return paths
    return [pattern]


def rows_of(paths, argument):
    """Number of the file, number of the line and cells of each row."""
    width = None
    for number, path in enumerate(paths):
        try:
            with open(path, encoding="utf-8-sig", newline="") as file:
                reader = csv.reader(file, strict=True)
                for cells in reader:
                    if not cells:
                        continue
                    width = width or len(cells)
                    if len(cells) != width:
                        raise UserError(f"--{argument}: {path}, line {reader.line_num} has {len(cells)} columns, the "
                                        f"first line has {width}")
                    yield number, reader.line_num, cells
        except OSError as error:
            raise UserError(f"--{argument}: cannot read '{path}': {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise UserError(f"--{argument}: {path} is not UTF-8 text") from error
        except csv.Error as error:
            raise UserError(f"--{argument}: {path}, line {reader.line_num} is not CSV: {error}") from error


def numbers(cells):
    """ValueError: one is neither a number nor blank."""
    return np.array([cell if cell.strip() else "nan" for cell in cells]).astype(np.float64)


def texts(cells):
    column = np.empty(len(cells), dtype=object)
    column[:] = [cell.strip() or None for cell in cells]
    return column


def read_table(pattern, argument, text=(), share=(0, 1)):
    """`text`: columns that are text whatever is in them. `share`: the rank of a replica and how many share the rows."""
    paths = paths_of(pattern, argument)
    text = set(text)
    known = set(text)
    lines, files = array.array("q"), array.array("q")
    chunks = []  # Of each column.
    rows = itertools.islice(rows_of(paths, argument), share[0], None, share[1])
    while chunk := list(itertools.islice(rows, CHUNK)):
        files.extend(number for number, _, _ in chunk)
        lines.extend(line for _, line, _ in chunk)
        cells_by_column = list(zip(*(cells for _, _, cells in chunk)))
        chunks = chunks or [[] for _ in cells_by_column]
        for index, cells in enumerate(cells_by_column):
            if index not in text:
                try:
                    chunks[index].append(numbers(cells))
                    continue
                except ValueError:
                    text.add(index)
            chunks[index].append(texts(cells))
    if not chunks:
        few = f"fewer rows than the {share[1]} replicas" if share[1] > 1 else "no rows"
        raise UserError(f"--{argument}: {paths[0]} holds {few}")
    if any(not is_text(part) for index in text - known for part in chunks[index]):
        return read_table(pattern, argument, text, share)  # What began with numbers is text: its first rows once more.
    table = Table([np.concatenate(parts) for parts in chunks], paths, lines, files)
    check_table(table, argument)
    return table


def check_table(table, argument):
    if len(table.columns) < 2:
        raise UserError(f"--{argument}: {table.paths[0]} has one column; the target comes first, then what it is "
                        f"learnt from")
    for index, column in enumerate(table.columns):
        if not is_text(column):
            if np.isinf(column).any():
                row = int(np.flatnonzero(np.isinf(column))[0])
                raise UserError(f"--{argument}: {table.where(row)}, column {index + 1} is not finite")
        elif len(column) > 1 and not is_number(column[0]) and all(map(is_number, column[1:])):
            raise UserError(f"--{argument}: {table.where(0)}, column {index + 1} is '{column[0]}', and below it are "
                            f"numbers; the file must have no header")


def is_number(cell):
    try:
        return cell is None or float(cell) is not None
    except ValueError:
        return False


def first_text(table, index):
    """Row and text of the first cell of a column that is no number."""
    return next((row, cell) for row, cell in enumerate(table.columns[index]) if not is_number(cell))


# --- what is learnt from them ---

@dataclasses.dataclass
class Part:
    x: np.ndarray
    y: np.ndarray  # Numbers of classes, or values.
    weights: np.ndarray = None


@dataclasses.dataclass
class Data:
    training: Part
    validation: Part
    test: Part  # Or None.
    classes: list  # Of a classification, in the order of their numbers; else None.
    encoder: "Encoder"

    def labels(self, part):
        """The target as the file had it."""
        return part.y.tolist() if self.classes is None else [self.classes[number] for number in part.y]

    def describe(self):
        """What one needs to encode further rows in the same way."""
        return {"classes": self.classes, "columns": self.encoder.columns}

    def fingerprint(self, *further):
        digest = hashlib.sha256(repr((further, self.classes, self.encoder.columns)).encode())
        for part in (self.training, self.validation):
            for values in (part.x, part.y, part.weights):
                if values is not None:
                    digest.update(np.ascontiguousarray(values).tobytes())
        return digest.hexdigest()


class Encoder:
    """Makes numbers of columns: as they are; with `preprocess` what is missing is filled in, and text becomes a column of
    0 and 1 for each category that the training data has; or not `one_hot`, one column of the categories' numbers, from 1.
    0 is a blank, and a text that the training data lacks."""

    def __init__(self, table, first, preprocess, one_hot):
        """`first`: the first column that is learnt from."""
        self.one_hot = one_hot
        self.columns = []
        for index, column in enumerate(table.columns[first:], first):
            self.columns.append(self.fit(table, index, column, preprocess))

    @staticmethod
    def fit(table, index, column, preprocess):
        number = index + 1
        if not is_text(column):
            fill = None
            if preprocess:
                if missing(column).all():
                    raise UserError(f"--training_data_path: column {number} has no value at all; leave it out")
                fill = float(np.nanmean(column))
            return {"column": number, "kind": "number", "fill": fill}
        if not preprocess:
            row, cell = first_text(table, index)
            raise UserError(f"--training_data_path: {table.where(row)}, column {number} is '{cell}', no number; "
                            f"--preprocess makes columns of 0 and 1 of categories")
        values = sorted(set(column[~missing(column)]))
        if len(values) > MAX_CATEGORIES:
            raise UserError(f"--training_data_path: column {number} has {len(values)} different texts; at most "
                            f"{MAX_CATEGORIES} make categories")
        return {"column": number, "kind": "category", "values": values}

    def encode(self, table, argument):
        parts = []
        for about in self.columns:
            column = table.columns[about["column"] - 1]
            if about["kind"] == "category":
                parts.append(self.encode_category(column, about["values"]))
                continue
            if is_text(column):
                row, cell = first_text(table, about["column"] - 1)
                raise UserError(f"--{argument}: {table.where(row)}, column {about['column']} is '{cell}', a number in the "
                                f"training data")
            filled = column if about["fill"] is None else np.where(np.isnan(column), about["fill"], column)
            parts.append(filled[:, np.newaxis])
        return np.concatenate(parts, axis=1)

    def encode_category(self, column, values):
        if self.one_hot:
            return np.stack([column == value for value in values], axis=1).astype(np.float64)
        numbers = {value: number for number, value in enumerate(values, 1)}
        return np.array([[numbers.get(text, 0)] for text in column], dtype=np.float64)


def class_of(value):
    """As the file had it: whole numbers without a point."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def classes_of(table, exchange):
    """The classes that the target has, sorted."""
    values = sorted(set().union(*exchange([class_of(value) for value in np.unique(table.columns[0]).tolist()])))
    if len(values) < 2:
        raise UserError(f"--training_data_path: the target has one class only, '{values[0]}'")
    if len(values) > MAX_CATEGORIES:
        raise UserError(f"--training_data_path: the target has {len(values)} different values; a classification has at "
                        f"most {MAX_CATEGORIES} classes")
    return values


def check_target(table, argument):
    blank = missing(table.columns[0])
    if blank.any():
        row = int(np.flatnonzero(blank)[0])
        raise UserError(f"--{argument}: {table.where(row)} has no target, which is the first column")


def target_of(table, classes, argument):
    column = table.columns[0]
    if classes is None:
        if is_text(column):
            row, cell = first_text(table, 0)
            raise UserError(f"--{argument}: {table.where(row)} has the target '{cell}'; a regression needs numbers")
        return column
    known = {value: number for number, value in enumerate(classes)}
    for row, value in enumerate(column):
        if value not in known:
            raise UserError(f"--{argument}: {table.where(row)} has the class '{class_of(value)}', which the training data lacks")
    return np.array([known[value] for value in column], dtype=np.int64)


def weights_of(table, argument):
    column = table.columns[1]
    wrong = np.ones(len(table), bool) if is_text(column) else ~(column >= 0)
    if wrong.any():
        row = int(np.flatnonzero(wrong)[0])
        raise UserError(f"--{argument}: {table.where(row)} has the weight '{column[row]}', which must be 0 or more")
    return column


def without_sparse_rows(table, first):
    lacking = np.mean([missing(column) for column in table.columns[first:]], axis=0)
    kept = np.flatnonzero(lacking <= MAX_MISSING)
    if len(kept) < len(table):
        log("INFO", f"{len(table) - len(kept)} of {len(table)} rows are left out: more than a tenth of their values is "
                    f"missing")
    return table.take(kept)


def split(table, arguments):
    """The table at random as training, validation and, unless that has a file of its own, test data."""
    order = np.random.default_rng(arguments.seed).permutation(len(table))
    validation = max(1, round(len(table) * arguments.validation_split))
    test = 0 if arguments.test_data_path else round(len(table) * arguments.test_split)
    if len(table) - validation - test < 2:
        raise UserError(f"--training_data_path: has {len(table)} rows that can be used, too few to split")
    parts = {"training": table.take(order[validation + test:]), "validation": table.take(order[:validation])}
    if test:
        parts["test"] = table.take(order[validation:validation + test])
    return parts


def read_training(arguments, argument, group):
    """The training data, or of data that is not preprocessed, this replica's share of the rows."""
    share = (0, 1) if arguments.preprocess else (group.rank, group.size)
    table = read_table(arguments.training_data_path, argument, share=share)
    text = set().union(*group.exchange([0] if is_text(table.columns[0]) else []))
    if text and not is_text(table.columns[0]):
        return read_table(arguments.training_data_path, argument, text, share)  # Others have classes with names.
    return table


def read_tables(arguments, first, group):
    """What there is of training, validation and test data, by these names, without the rows that are not used."""
    tables = {}
    text = []
    for name in ("training", "validation", "test"):
        path, argument = getattr(arguments, f"{name}_data_path"), f"{name}_data_path"
        if path is None:
            continue
        table = read_training(arguments, argument, group) if name == "training" else read_table(path, argument, text)
        tables[name] = table
        columns = len(tables["training"].columns)
        if len(table.columns) != columns:
            raise UserError(f"--{argument}: {path} has {len(table.columns)} columns, the training data has {columns}")
        if first >= columns:
            raise UserError("--csv_weight: the second column is the weight, and there is no third to learn from")
        if arguments.preprocess:
            table = tables[name] = without_sparse_rows(table, first)
        if len(table) == 0:
            raise UserError(f"--{argument}: {path} has no row with at least nine tenths of its values")
        check_target(table, argument)
        text = [index for index, column in enumerate(tables["training"].columns) if is_text(column)]
    return tables


def load(arguments, *, classification, blanks_allowed=False, one_hot=True, group=ALONE):
    """The data that the arguments speak of. Each replica of the group calls it; without --preprocess a replica holds its
    own share of the training data only."""
    weighted = getattr(arguments, "csv_weight", False)
    first = 2 if weighted else 1
    tables = read_tables(arguments, first, group)
    classes = classes_of(tables["training"], group.exchange) if classification else None
    if arguments.validation_data_path is None:
        tables.update(split(tables["training"], arguments))
    encoder = Encoder(tables["training"], first, arguments.preprocess, one_hot)
    parts = {}
    for name, table in tables.items():
        argument = f"{name}_data_path" if getattr(arguments, f"{name}_data_path") else "training_data_path"
        x = encoder.encode(table, argument)
        if not blanks_allowed and np.isnan(x).any():
            row, column = np.argwhere(np.isnan(x))[0].tolist()
            raise UserError(f"--{argument}: {table.where(row)}, column {column + 1 + first} is blank; --preprocess fills "
                            f"it in")
        parts[name] = Part(x, target_of(table, classes, argument), weights_of(table, argument) if weighted else None)
    return Data(parts["training"], parts["validation"], parts.get("test"), classes, encoder)
