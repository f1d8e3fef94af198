// Outlines of the regions of a label map, as SVG paths along the borders of pixels.

/** Label of each pixel, row by row, from its run-length code. */
export function decoded(runs: number[]): Int32Array {
  let count = 0;
  for (let at = 1; at < runs.length; at += 2) count += runs[at];
  const labels = new Int32Array(count);
  let end = 0;
  for (let at = 0; at < runs.length; at += 2) {
    labels.fill(runs[at], end, end + runs[at + 1]);
    end += runs[at + 1];
  }
  return labels;
}

/** For each region its closed outlines, holes included (fill by the even-odd rule); a pixel is `unit` wide. */
export function outlines(labels: Int32Array, height: number, width: number, count: number, unit: number): string[] {
  const stride = width + 1;
  // Steps of each region: with the region to the right of the direction, from corner to corner.
  const steps: Map<number, number[]>[] = Array.from({ length: count }, () => new Map());
  const add = (label: number, from: number, to: number) => {
    if (label < 0 || label >= count) return;
    const known = steps[label].get(from);
    if (known) known.push(to);
    else steps[label].set(from, [to]);
  };
  const label = (row: number, column: number) =>
    row < 0 || column < 0 || row >= height || column >= width ? -1 : labels[row * width + column];
  for (let row = 0; row <= height; row++) {
    for (let column = 0; column <= width; column++) {
      const corner = row * stride + column;
      const here = label(row, column);
      const above = label(row - 1, column);
      const left = label(row, column - 1);
      if (here !== above && column < width) {
        add(here, corner, corner + 1);
        add(above, corner + 1, corner);
      }
      if (here !== left && row < height) {
        add(here, corner + stride, corner);
        add(left, corner, corner + stride);
      }
    }
  }
  return steps.map((found) => path(found, stride, unit));
}

function path(steps: Map<number, number[]>, stride: number, unit: number): string {
  const at = (corner: number) => `${short(unit * (corner % stride))} ${short(unit * Math.floor(corner / stride))}`;
  let text = "";
  for (const start of [...steps.keys()]) {
    while (steps.get(start)?.length) {
      let from = start;
      let before = 0;
      text += `M${at(start)}`;
      do {
        const to = steps.get(from)?.pop() as number;
        // Only corners are written; straight runs of pixels are one line.
        if (to - from !== before && from !== start) text += `L${at(from)}`;
        before = to - from;
        from = to;
      } while (from !== start);
      text += "Z";
    }
  }
  return text;
}

function short(value: number): number {
  return Math.round(100 * value) / 100;
}
