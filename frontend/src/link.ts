// The address of the page keeps what the reader chose: which explanation is shown, and the sliders.

/** A setting by its values: τ, m and M. */
export type Values = [number, number, number];

export interface View {
  /** Which of several explanations is shown. */
  shown: number;
  /** The setting of each explanation; null for the one it was made with. */
  settings: (Values | null)[];
}

const MOST = 1000; // explanations; a longer address is not ours

export function linkTo({ shown, settings }: View): void {
  const parts = settings.flatMap((values, which) => (values ? [`s${which + 1}=${values.join(",")}`] : []));
  if (shown) parts.unshift(`show=${shown + 1}`);
  const address = parts.length ? `#${parts.join("&")}` : " ";
  try {
    if (parts.length || location.hash) history.replaceState(null, "", address === " " ? location.pathname + location.search : address);
  } catch {
    // A page inside another one may have no address of its own; then there is nothing to keep it in.
  }
}

export function readLink(): View {
  const view: View = { shown: 0, settings: [] };
  for (const [name, text] of new URLSearchParams(location.hash.slice(1))) {
    const which = Number(/^s(\d+)$/.exec(name)?.[1] ?? 0);
    const values = text.split(",").map(Number);
    if (which > 0 && which < MOST && values.length === 3 && values.every(Number.isFinite)) {
      view.settings[which - 1] = values as Values;
    } else if (name === "show" && Number.isInteger(Number(text)) && Number(text) > 0) {
      view.shown = Number(text) - 1;
    }
  }
  return view;
}
