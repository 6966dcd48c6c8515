/** An action that calls once its element is scrolled to. */
export function seen(node: HTMLElement, act: () => void) {
  const watch = new IntersectionObserver((found) => {
    if (!found.some(({ isIntersecting }) => isIntersecting)) return;
    watch.disconnect();
    act();
  });
  watch.observe(node);
  return { destroy: () => { watch.disconnect(); } };
}
