/** Returns the text of an operation that the search compares with its words. */
export function textOf(tag, path, method, operation) {
  const parameters = (operation.parameters ?? []).flatMap(({ name, description }) => [name, description]);
  return [tag, path, method, operation.operationId, operation.summary, operation.description, ...parameters].join(' ').toLowerCase();
}

/** Reports whether all words of a phrase occur in a text. */
export function matches(text, phrase) {
  return phrase
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

export const SEARCH_LABEL = 'Search paths, descriptions and parameters';
