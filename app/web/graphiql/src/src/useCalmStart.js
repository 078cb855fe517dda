import { useEffect } from 'react';

// Each argument in the explorer takes the focus when it appears, which would scroll a new page to the last one. This keeps the explorer at its top until
// the user clicks or presses a key.
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
