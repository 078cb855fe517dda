// The part of framer-motion that GraphiQL uses: a list whose items can be reordered. Here, the order of the tabs is fixed, which saves the whole library.
// An item contains the buttons that select and close a tab. The roles of tabs do not permit buttons inside, so that the list has none of these roles.

function Group({ values, onReorder, axis, role, ...props }) {
  return <ul {...props} />;
}

function Item({ value, dragElastic, dragConstraints, role, 'aria-selected': selected, ...props }) {
  return <li aria-current={selected || undefined} {...props} />;
}

export const Reorder = { Group, Item };
