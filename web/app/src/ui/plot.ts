import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';

// What all plots share: their place tells the colours, by its own style, and they are drawn anew with its size and theme.

/** A colour of the place, by the property of its style that holds it. */
export function colourOf(place: HTMLElement, property: 'color' | 'outline-color' | 'caret-color' | 'border-color' | 'text-decoration-color'): () => string {
  return () => getComputedStyle(place).getPropertyValue(property === 'border-color' ? 'border-top-color' : property);
}

/** The axes of a plot: plain words below, values on the left. */
export function axesOf(place: HTMLElement, x: uPlot.Axis, told: (value: number) => string): uPlot.Axis[] {
  const axis: uPlot.Axis = { stroke: colourOf(place, 'color'), grid: { show: false }, ticks: { show: false }, font: '12px Inter, system-ui' };
  return [
    { ...axis, size: 28, ...x },
    { ...axis, size: 84, grid: { stroke: colourOf(place, 'outline-color'), width: 1 }, values: (_, ticks) => ticks.map(told), space: 44 },
  ];
}

/** Draws in a place, and again whenever its width or the theme changes; the answer ends that. */
export function drawn(place: HTMLElement, plot: (width: number) => uPlot): { again: () => void; end: () => void } {
  let last: uPlot | undefined;
  const again = () => {
    last?.destroy();
    last = plot(place.clientWidth);
  };
  const sizes = new ResizeObserver(again);
  sizes.observe(place);
  const scheme = new MutationObserver(again);
  scheme.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  const system = matchMedia('(prefers-color-scheme: dark)');
  system.addEventListener('change', again);
  return {
    again,
    end: () => {
      sizes.disconnect();
      scheme.disconnect();
      system.removeEventListener('change', again);
      last?.destroy();
    },
  };
}
