// Which part of the drawing is seen: fit, zoom and pan.

import { set } from "./dom";
import type { Box, Ground, Point } from "./ground";

const TALLEST = 560;
const LOWEST = 200;

export class View {
  /** Whether the last press moved the view, so that its click means nothing. */
  panned = false;
  /** Called with the number of the drawing's units that a pixel shows, when it changes. */
  onScale: (unitsPerPixel: number) => void = () => {};
  private box: Box;
  private fitted = true;

  constructor(
    private readonly root: SVGSVGElement,
    private readonly container: HTMLElement,
    public ground: Ground,
  ) {
    this.box = ground.box;
    this.fit();
    new ResizeObserver(() => this.fitted && this.fit()).observe(container);
    root.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
  }

  fit(): void {
    const { box, scale } = this.ground;
    const room = this.container.clientWidth || 800;
    let factor = Math.min(room / box.width, scale);
    const height = Math.max(LOWEST, Math.min(TALLEST, box.height * factor));
    factor = Math.min(factor, height / box.height);
    set(this.root, { width: Math.floor(room), height: Math.floor(height) });
    const seen = { width: room / factor, height: height / factor };
    const [x, y] = [box.x + (box.width - seen.width) / 2, box.y + (box.height - seen.height) / 2];
    this.show({ x, y, ...seen });
    this.fitted = true;
  }

  zoom(factor: number, around?: Point): void {
    const { x, y, width, height } = this.box;
    const middle = around ?? { x: x + width / 2, y: y + height / 2 };
    this.show({
      x: middle.x - (middle.x - x) / factor,
      y: middle.y - (middle.y - y) / factor,
      width: width / factor,
      height: height / factor,
    });
    this.fitted = false;
  }

  /** Units of the drawing in one pixel. */
  get unitsPerPixel(): number {
    return this.box.width / Number(this.root.getAttribute("width"));
  }

  toDrawing(event: MouseEvent): Point {
    const frame = this.root.getBoundingClientRect();
    return {
      x: this.box.x + ((event.clientX - frame.left) / frame.width) * this.box.width,
      y: this.box.y + ((event.clientY - frame.top) / frame.height) * this.box.height,
    };
  }

  startPan(start: PointerEvent): void {
    const from = { ...this.box };
    const frame = this.root.getBoundingClientRect();
    this.panned = false;
    const move = (event: PointerEvent) => {
      const [x, y] = [event.clientX - start.clientX, event.clientY - start.clientY];
      if (!this.panned && Math.hypot(x, y) < 4) return;
      this.panned = true;
      this.fitted = false;
      this.show({ ...from, x: from.x - (x * from.width) / frame.width, y: from.y - (y * from.height) / frame.height });
    };
    const end = () => {
      window.removeEventListener("pointermove", move);
      window.removeEventListener("pointerup", end);
    };
    window.addEventListener("pointermove", move);
    window.addEventListener("pointerup", end);
  }

  private wheel(event: WheelEvent): void {
    // The bare wheel scrolls the page; nobody likes to be caught in a picture.
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    this.zoom(Math.exp(-event.deltaY / 300), this.toDrawing(event));
  }

  private show(box: Box): void {
    this.box = box;
    set(this.root, { viewBox: [box.x, box.y, box.width, box.height].map((part) => part.toFixed(2)).join(" ") });
    this.onScale(this.unitsPerPixel);
  }
}
