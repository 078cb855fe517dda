// Storage may be switched off in the browser; the page then works without memory.

/** @returns {string | null} */
export function remembered(key) {
  try {
    return localStorage.getItem(key);
  } catch {
    return null;
  }
}

export function remember(key, value) {
  try {
    localStorage.setItem(key, value);
  } catch {
    // Nothing to do: the choice holds until the page is closed.
  }
}

/**
 * @returns {{ query: string, variables: string } | null} What was in the editors when the page was last open; null on
 *   a first visit. GraphiQL's own memory misses a document that was opened and never edited.
 */
export function lastTab() {
  try {
    const { tabs, activeTabIndex } = JSON.parse(remembered('graphiql:tabState'));
    const { query, variables } = tabs[activeTabIndex];
    return { query: query ?? '', variables: variables ?? '' };
  } catch {
    return null;
  }
}
