// Flame graph of a comparison: the data and functions that `Flame` uses through its owner.
const frames = JSON.parse(document.getElementById("frames").textContent);
const [place, told, tip] = ["flame", "told", "tip"].map((id) => document.getElementById(id));
const rows = frames.up.map((_, row) => row);
const tree = {
  parent: rows.map((row) => (frames.up[row] === 0 ? -1 : row - frames.up[row])),
  total: frames.width,
  depth: [],
  path: (row) => (row < 0 ? [] : [...tree.path(tree.parent[row]), row]),
};
const below = rows.map(() => []);
tree.top = rows.filter((row) => tree.parent[row] < 0);
rows.forEach((row) => {
  const parent = tree.parent[row];
  tree.depth.push(parent < 0 ? 0 : tree.depth[parent] + 1);
  if (parent >= 0) {
    below[parent].push(row);
  }
});
tree.measured = tree.top.reduce((sum, row) => sum + frames.width[row], 0);
for (const list of [tree.top, ...below]) {
  list.sort((a, b) => frames.width[b] - frames.width[a] || a - b);
}
const label = (row) => frames.label[frames.fn[row]];
const owner = {
  tree,
  selected: -1,
  hovered: -1,
  get colours() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name);
    return { text: of("--text"), neutral: of("--line"), accent: of("--text") };
  },
  fillOf: (row) => (row < 0 ? [owner.colours.neutral, owner.colours.text] : [frames.colours[frames.trend[row]], frames.ink]),
  widestFirst: (row) => (row < 0 ? tree.top : below[row]),
  everything: () => "all",
  flameText(row) {
    const share = (frames.width[row] / tree.measured) * 100;
    return `${label(row)}  ${share.toFixed(share < 0.95 ? 1 : 0)} % ${frames.points[row]}`;
  },
  spoken: (row) => `${label(row)}\n${frames.told[row]}`,
  lit: () => tree.path(owner.hovered),
  isDim: () => false,
  select(row) {
    owner.selected = row;
    told.textContent = row < 0 ? "" : owner.spoken(row);
    flame.later();
  },
  zoomed() {},
  hoverFlame(row, event) {
    owner.hovered = row;
    tip.hidden = row < 0;
    if (row >= 0) {
      tip.textContent = owner.spoken(row);
      tip.style.left = `${Math.max(0, Math.min(event.clientX + 14, innerWidth - tip.offsetWidth - 8))}px`;
      tip.style.top = `${Math.min(event.clientY + 18, innerHeight - tip.offsetHeight - 8)}px`;
    }
    flame.later();
  },
};
place.style.height = `${(Math.max(...tree.depth) + 2) * LEVEL_HEIGHT}px`;
const flame = new Flame(place, place.querySelector("canvas"), document.getElementById("flame-said"), owner);
place.addEventListener("click", (event) => flame.zoom(flame.at(event)));
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => flame.later());
