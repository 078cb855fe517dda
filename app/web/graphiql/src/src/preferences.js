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

/** The state in which GraphiQL stores its tabs, or null. */
function storedState() {
  try {
    return JSON.parse(remembered('graphiql:tabState'));
  } catch {
    return null;
  }
}

/** @returns {{ query: string | null, variables: string | null }[]} The stored tabs. */
export function storedTabs() {
  return storedState()?.tabs ?? [];
}

/**
 * @returns {{ query: string, variables: string } | null} The last content of the editors; null on
 *   the first visit. GraphiQL itself does not store documents that were not edited.
 */
export function lastTab() {
  const tab = storedTabs()[storedState()?.activeTabIndex];
  return tab ? { query: tab.query ?? '', variables: tab.variables ?? '' } : null;
}
