// Human units: three significant digits. The exact value stands beside them in panels and tooltips.

function significant(value, whole) {
  const size = Math.abs(value);
  if (whole || size >= 99.95) return value.toFixed(0);
  return value.toFixed(size >= 9.995 ? 1 : 2);
}

export function count(value) {
  return value === null || value === undefined ? "–" : Math.round(value).toLocaleString("en-US").replace("-", "−");
}

export function bytes(value) {
  if (value === null || value === undefined) return "–";
  const units = ["B", "kB", "MB", "GB", "TB", "PB", "EB"];
  let unit = 0;
  let scaled = value;
  while (Math.abs(scaled) >= 999.5 && unit + 1 < units.length) {
    scaled /= 1000;
    unit += 1;
  }
  return `${significant(scaled, unit === 0 && Number.isInteger(value))} ${units[unit]}`.replace("-", "−");
}

export function rate(value) {
  return value === null || value === undefined ? "–" : `${bytes(value)}/s`;
}

export function duration(nanos) {
  if (nanos === null || nanos === undefined) return "–";
  const size = Math.abs(nanos);
  const sign = nanos < 0 ? "−" : "";
  const seconds = Math.round(size / 1e9);
  const two = (value) => String(value).padStart(2, "0");
  if (seconds >= 172800) return `${sign}${Math.floor(seconds / 86400)} d ${two(Math.floor(seconds / 3600) % 24)} h`;
  if (seconds >= 3600) return `${sign}${Math.floor(seconds / 3600)} h ${two(Math.floor(seconds / 60) % 60)} min`;
  if (seconds >= 100) return `${sign}${Math.floor(seconds / 60)} min ${two(seconds % 60)} s`;
  if (size === 0) return "0 s";
  if (size < 999.5) return `${sign}${significant(size, Number.isInteger(nanos))} ns`;
  if (size < 999.5e3) return `${sign}${significant(size / 1e3)} µs`;
  if (size < 999.5e6) return `${sign}${significant(size / 1e6)} ms`;
  return `${sign}${significant(size / 1e9)} s`;
}

/** A time that follows from time stamps: null if it is shorter than these tell. */
export function told(data, nanos) {
  const unit = data.resolution_ns ?? 0;
  if (nanos === null || nanos === undefined || unit < 1e6) return nanos;
  return nanos < 2 * unit ? null : Math.floor(nanos / unit) * unit;
}

export function percent(share) {
  if (share === null || share === undefined) return "–";
  const value = share * 100;
  if (!Number.isFinite(value)) return "–";
  if (value > 0 && value < 0.05) return "<0.1 %";
  if (value < 100 && value > 99.95) return ">99.9 %";
  return `${value === 100 || value === 0 ? value.toFixed(0) : value.toFixed(1)} %`;
}

/** `1 case`, `2 cases`. */
export function plural(number, one, many = `${one}s`) {
  return `${count(number)} ${number === 1 ? one : many}`;
}

/** `a, b and c`. */
export function list(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}

/** A point in time, `offset` nanoseconds after the origin, as the clock of the trace allows. */
export function moment(data, offset) {
  const match = /^(-?\d+)-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)\.(\d{9})Z$/.exec(data.origin);
  if (!match || offset === null) return "–";
  if (data.clock === "order") return `#${count(offset)}`;
  if (data.clock === "relative") return `+${(offset / 1e9).toFixed(6)} s`;
  const [year, month, day, hour, minute, second, nanos] = match.slice(1).map(Number);
  const total =
    BigInt(Date.UTC(year, month - 1, day, hour, minute, second)) * 1000000n +
    BigInt(nanos) +
    BigInt(Math.round(offset));
  const date = new Date(Number(total / 1000000n));
  const text = `${date.toISOString().slice(0, 19)}.${String(total % 1000000000n).padStart(9, "0")}`;
  return data.clock === "time-of-day" ? text.slice(11) : `${text.replace("T", " ")} UTC`;
}

/** A round step of 1, 2 or 5 times a power of ten, giving at most `steps` steps over `span`. */
export function roundStep(span, steps) {
  const raw = Math.max(span / steps, Number.MIN_VALUE);
  const power = 10 ** Math.floor(Math.log10(raw));
  return [1, 2, 5, 10].find((factor) => factor * power >= raw * 0.999999) * power;
}
