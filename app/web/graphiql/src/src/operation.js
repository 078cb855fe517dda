import { getOperationAST, parse } from 'graphql';

/**
 * The operation of a document that is to run. After a change of tabs, the operation name of the editor is that of the
 * previous document until the editor has parsed the new one. A name that is not in the document is therefore ignored
 * if the document has one operation.
 * @param {{ query: string, operationName?: string | null }} request
 * @returns {{ isSubscription: boolean, operationName: string | undefined }}
 */
export function chosenOperation({ query, operationName }) {
  try {
    const document = parse(query);
    const operation = getOperationAST(document, operationName) ?? getOperationAST(document);
    if (operation) {
      return { isSubscription: operation.operation === 'subscription', operationName: operation.name?.value };
    }
  } catch {
    // The gateway describes the syntax error.
  }
  return { isSubscription: false, operationName: operationName ?? undefined };
}
