import { linkTo } from './documents.js';

/** Longer URLs are not accepted by some servers and proxies. */
const MAX_LINK_LENGTH = 8_000;
const DELAY_MS = 300;

/** Returns the URL that opens the tab, or null if it would be too long. */
export function shortLinkTo(tab) {
  const link = linkTo(tab);
  return link.length <= MAX_LINK_LENGTH ? link : null;
}

/**
 * Returns a function for GraphiQL's onTabChange that writes the document of the active tab to the address bar. The address stays as it is until the document
 * changes.
 * @param {import('./documents.js').Tab | undefined} initial The document that is open initially.
 */
export function addressFollower(initial) {
  let last = { query: initial?.query ?? '', variables: initial?.variables ?? '', operationName: initial?.operationName ?? null };
  let timer = null;
  return ({ tabs, activeTabIndex }) => {
    const tab = tabs[activeTabIndex];
    const next = { query: tab.query ?? '', variables: tab.variables ?? '', operationName: tab.operationName ?? null };
    // GraphiQL sets the operation of a new document after it has parsed it.
    const parsed = last.operationName === null || next.operationName === null;
    const same = next.query === last.query && next.variables === last.variables && (parsed || next.operationName === last.operationName);
    last = next;
    if (same) {
      return;
    }
    clearTimeout(timer);
    // Browsers limit how often a page may change its address.
    timer = setTimeout(() => {
      history.replaceState(null, '', (last.query.trim() && shortLinkTo(last)) || location.pathname);
    }, DELAY_MS);
  };
}

/**
 * Copies a text to the clipboard, also on pages from plain HTTP, which have no navigator.clipboard.
 * @returns {Promise<boolean>} Whether the browser permitted it.
 */
export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = document.createElement('textarea');
    area.value = text;
    area.style.position = 'fixed';
    document.body.append(area);
    area.select();
    const copied = document.execCommand('copy');
    area.remove();
    return copied;
  }
}
