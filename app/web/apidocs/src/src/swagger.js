import SwaggerUI from 'swagger-ui-dist/swagger-ui-es-bundle.js';
import 'swagger-ui-dist/swagger-ui.css';
import './swagger.css';
import { matches, SEARCH_LABEL, textOf } from './search.js';

/** Searches tags, paths, summaries, descriptions and parameters, instead of the names of tags only. All words must occur. */
const search = () => ({
  fn: {
    opsFilter: (tags, phrase) =>
      tags
        .map((group, tag) =>
          group.update('operations', (operations) =>
            operations.filter((each) => {
              const { path, method, operation } = each.toJS();
              return matches(textOf(tag, path, method, operation), phrase);
            }),
          ),
        )
        .filter((group) => group.get('operations').size > 0),
  },
});

/** Shows names of operations as text: a link inside the button of an operation cannot be used with a keyboard. */
const plainNames = ({ React }) => ({
  components: { DeepLink: ({ text }) => React.createElement('span', { className: 'nostyle' }, text) },
});

/** Names the controls that Swagger UI leaves without a name, and makes its examples reachable with the keyboard. */
function nameControls(docs) {
  for (const [selector, name] of [
    ['.operation-filter-input', SEARCH_LABEL],
    ['#servers', 'Server'],
    ['select:not([id])', 'Value'],
    ['textarea', 'Body'],
  ]) {
    for (const control of docs.querySelectorAll(selector)) {
      if (!control.hasAttribute('aria-label')) control.setAttribute('aria-label', name);
    }
  }
  for (const example of docs.querySelectorAll('pre.microlight')) example.tabIndex = 0; // scrolls with the keyboard
  docs.querySelector('.operation-filter-input')?.setAttribute('placeholder', SEARCH_LABEL);
}

/** Shows Swagger UI in an element. */
export function show(url, docs) {
  new MutationObserver(() => nameControls(docs)).observe(docs, { childList: true, subtree: true });
  SwaggerUI({
    url,
    domNode: docs,
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    filter: true,
    plugins: [search, plainNames],
    tryItOutEnabled: true,
    // Disables the validator, which is on another host.
    validatorUrl: null,
  });
}
