import { useEffect } from 'react';

// Each argument that the explorer shows takes the focus when it appears, so that a page that opens would be scrolled to the last of them. Until
// somebody touches the page the explorer stays at its top.
export function useCalmStart() {
  useEffect(() => {
    const start = new AbortController();
    const { signal } = start;
    const calm = ({ target }) => {
      const panel = target.closest('.graphiql-plugin');
      if (panel) {
        target.blur();
        panel.scrollTop = 0;
      }
    };
    document.addEventListener('focusin', calm, { signal });
    for (const touch of ['pointerdown', 'keydown']) {
      document.addEventListener(touch, () => start.abort(), { signal, capture: true });
    }
    return () => start.abort();
  }, []);
}
