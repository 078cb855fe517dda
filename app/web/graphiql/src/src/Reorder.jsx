// The part of framer-motion that GraphiQL uses: a list whose items can be reordered. Here, the order of the tabs is fixed, which saves the whole library.

function Group({ values, onReorder, axis, ...props }) {
  return <ul {...props} />;
}

function Item({ value, dragElastic, dragConstraints, ...props }) {
  return <li {...props} />;
}

export const Reorder = { Group, Item };
