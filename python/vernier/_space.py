"""Parameters of a search space."""

from __future__ import annotations

from numbers import Real
from typing import Any, Callable, ClassVar, Mapping, Optional, Sequence, Union

from vernier._errors import InvalidValueError, without_long_words
from vernier._values import Value, finite, flag, plain, text

Condition = Mapping[str, Union[Value, Sequence[Value]]]


class Parameter:
    """Base class of the kinds of parameters. ``when`` makes a parameter conditional: it is active only if each of these
    other parameters has the given value, or one of the given values, as in ``when={"optimizer": ["sgd", "rmsprop"]}``.
    ``default``: if every parameter has one, they are the first point that is tried."""

    def __init__(self, default: Optional[Value], when: Optional[Condition]) -> None:
        self.default = default
        self.when = when

    def _domain(self, field: str) -> dict[str, Any]:
        raise NotImplementedError

    def _definition(self, field: str) -> dict[str, Any]:
        """The parameter as in a study file."""
        definition = self._domain(field)
        if self.default is not None:
            definition["default"] = plain(self.default, f"{field}.default")
        if self.when is not None:
            definition["when"] = _conditions(self.when, f"{field}.when")
        return definition

    def __repr__(self) -> str:
        fields = (f"{name}={value!r}" for name, value in vars(self).items() if value is not None and value is not False)
        return f"{type(self).__name__}({', '.join(fields)})"

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__: ClassVar[None] = None  # type: ignore[assignment]  # It holds lists and mappings.


class _Range(Parameter):
    _key: str

    def __init__(
        self,
        low: float,
        high: float,
        log: bool,
        reverse_log: bool,
        step: Optional[float],
        points: Optional[int],
        default: Optional[Value],
        when: Optional[Condition],
    ) -> None:
        super().__init__(default, when)
        self.low = low
        self.high = high
        self.log = log
        self.reverse_log = reverse_log
        self.step = step
        self.points = points

    def _domain(self, field: str) -> dict[str, Any]:
        log, reverse_log = flag(self.log, f"{field}.log"), flag(self.reverse_log, f"{field}.reverse_log")
        if log and reverse_log:
            raise InvalidValueError(f"{field}: log and reverse_log exclude each other", field=field)
        bounds = [finite(self.low, f"{field}.{self._key}[0]"), finite(self.high, f"{field}.{self._key}[1]")]
        domain: dict[str, Any] = {self._key: bounds}
        if log or reverse_log:
            domain["scale"] = "log" if log else "reverse-log"
        if self.step is not None:
            domain["step"] = finite(self.step, f"{field}.step")
        if self.points is not None:
            domain["points"] = finite(self.points, f"{field}.points")
        return domain


class Float(_Range):
    """A real number from ``low`` to ``high``, both included.

    ``log`` gives more resolution near ``low``, which must then be above 0; ``reverse_log`` near ``high``. ``step``: only
    low, low + step, and so on. ``points``: number of values that the algorithm "grid" takes.
    """

    _key = "float"

    def __init__(
        self,
        low: float,
        high: float,
        *,
        log: bool = False,
        reverse_log: bool = False,
        step: Optional[float] = None,
        points: Optional[int] = None,
        default: Optional[float] = None,
        when: Optional[Condition] = None,
    ) -> None:
        super().__init__(low, high, log, reverse_log, step, points, default, when)


class Int(_Range):
    """A whole number from ``low`` to ``high``, both included. The arguments are those of Float."""

    _key = "int"

    def __init__(
        self,
        low: int,
        high: int,
        *,
        log: bool = False,
        reverse_log: bool = False,
        step: Optional[int] = None,
        points: Optional[int] = None,
        default: Optional[int] = None,
        when: Optional[Condition] = None,
    ) -> None:
        super().__init__(low, high, log, reverse_log, step, points, default, when)


class _Listed(Parameter):
    _key: str

    def __init__(self, values: Sequence[Any], default: Optional[Value], when: Optional[Condition]) -> None:
        super().__init__(default, when)
        self.values = values

    def _domain(self, field: str) -> dict[str, Any]:
        # An array of NumPy is no Sequence.
        to_list: Optional[Callable[[], Any]] = getattr(self.values, "tolist", None)
        values = self.values if to_list is None else to_list()
        if isinstance(values, (str, bytes)) or not isinstance(values, (Sequence, range)):
            raise TypeError(f"{field}.{self._key}: must be a list of values, got {self.values!r}")
        return {self._key: [self._value(value, f"{field}.{self._key}[{i}]") for i, value in enumerate(values)]}

    def _value(self, value: Any, field: str) -> Value:
        return plain(value, field)


class Discrete(_Listed):
    """One of several numbers, in ascending order. Algorithms treat neighbours as similar."""

    _key = "discrete"

    def __init__(
        self, values: Sequence[float], *, default: Optional[float] = None, when: Optional[Condition] = None
    ) -> None:
        super().__init__(values, default, when)

    def _value(self, value: Any, field: str) -> Value:
        return finite(value, field)


class Categorical(_Listed):
    """One of several values without an order: text, numbers or booleans. A plain list means the same."""

    _key = "categorical"

    def __init__(
        self, values: Sequence[Value], *, default: Optional[Value] = None, when: Optional[Condition] = None
    ) -> None:
        super().__init__(values, default, when)


class Bool(Parameter):
    """True or false."""

    def __init__(self, *, default: Optional[bool] = None, when: Optional[Condition] = None) -> None:
        super().__init__(default, when)

    def _domain(self, field: str) -> dict[str, Any]:
        return {"bool": {}}


Space = Mapping[str, Union[Parameter, Sequence[Value]]]


def space_of(parameters: Sequence[tuple[str, Mapping[str, Any]]]) -> dict[str, Parameter]:
    """The parameters of a study file."""
    return {name: _parameter_of(fields) for name, fields in parameters}


def _parameter_of(fields: Mapping[str, Any]) -> Parameter:
    options: dict[str, Any] = {"default": fields.get("default"), "when": _condition_of(fields.get("when", ()))}
    for listed in (Discrete, Categorical):
        if listed._key in fields:
            return listed(fields[listed._key], **options)
    if "bool" in fields:
        return Bool(**options)
    ranged = Float if Float._key in fields else Int
    scale = fields["scale"]
    options.update(log=scale == "log", reverse_log=scale == "reverse-log", step=fields.get("step"), points=fields.get("points"))
    return ranged(*fields[ranged._key], **options)


def _condition_of(conditions: Sequence[tuple[str, list[Value]]]) -> Optional[Condition]:
    """All of the conditions as one: a parent with several of them must have a value that each of them allows."""
    when: dict[str, list[Value]] = {}
    for parent, values in conditions:
        when[parent] = [value for value in when.get(parent, values) if value in values]
    return when or None


def _conditions(when: Condition, field: str) -> dict[str, list[Value]]:
    if not isinstance(when, Mapping):
        raise TypeError(f"{field}: must be a mapping such as {{'optimizer': 'sgd'}}, got {when!r}")
    conditions: dict[str, list[Value]] = {}
    for parent, wanted in when.items():
        is_list = isinstance(wanted, (list, tuple, set, frozenset, range))
        values: Sequence[Any] = list(wanted) if is_list else [wanted]  # type: ignore[arg-type]
        conditions[text(parent, field)] = [plain(value, f"{field}.{parent}") for value in values]
    return conditions


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def parameters_of(space: Space) -> dict[str, Any]:
    """The parameters as in a study file."""
    if not isinstance(space, Mapping):
        raise TypeError(f"space: must be a mapping of names to parameters, got {space!r}")
    if not space:
        raise InvalidValueError("space: must have at least one parameter, got none", field="space")
    parameters: dict[str, Any] = {}
    for name, parameter in space.items():
        field = "parameters." + without_long_words(text(name, "name of a parameter"))
        if isinstance(parameter, type) and issubclass(parameter, Parameter):
            raise TypeError(f"{field}: must be a parameter, got the class {parameter.__name__}; call it")
        if not isinstance(parameter, Parameter):
            if isinstance(parameter, (str, bytes)) or not isinstance(parameter, (list, tuple)):
                raise TypeError(
                    f"{field}: must be Float, Int, Discrete, Categorical, Bool or a list of values, got {parameter!r}"
                )
            if isinstance(parameter, tuple) and len(parameter) == 2 and all(_is_number(value) for value in parameter):
                low, high = parameter
                raise InvalidValueError(
                    f"{field}: ({low!r}, {high!r}) may mean a range or two values; write Float({low!r}, {high!r}), "
                    f"Int({low!r}, {high!r}) or [{low!r}, {high!r}]",
                    field=field,
                )
            parameter = Categorical(parameter)
        parameters[name] = parameter._definition(field)
    return parameters
