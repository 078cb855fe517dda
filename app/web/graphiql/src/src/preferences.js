// If storage is disabled in the browser, settings are not saved.

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
    // The setting applies until the page is closed.
  }
}

/**
 * @returns {{ query: string, variables: string } | null} The last content of the editors; null on
 *   the first visit. GraphiQL itself does not store documents that were not edited.
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
