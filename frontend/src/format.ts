// Numbers and names as people read them.

/** A few significant digits with a true minus sign; `signed` also writes the plus. */
export function number(value: number | null | undefined, signed = false, precision = 3): string {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  const digits = size >= 1e5 || size < 1e-4 ? size.toExponential(1) : trimmed(size, precision);
  return (value < 0 ? "−" : signed ? "+" : "") + digits.replace("-", "−");
}

function trimmed(size: number, precision: number): string {
  const text = size.toPrecision(precision);
  return text.includes("e") ? String(Math.round(size)) : text;
}

export function withError(value: number, error: number | null): string {
  return number(value, true) + (error === null || error === 0 ? "" : ` ± ${number(error, false, 2)}`);
}

/** A, B, …, Z, AA, AB, …: how motifs are called, the strongest first. */
export function motifName(rank: number): string {
  const letter = String.fromCharCode(65 + (rank % 26));
  return rank < 26 ? letter : motifName(Math.floor(rank / 26) - 1) + letter;
}

export function clipped(text: string, length: number): string {
  const letters = [...text];
  return letters.length <= length ? text : letters.slice(0, length - 1).join("") + "…";
}
