// Colours of the theme, and the colour of a row, which depends on its share of self time.

// The strongest colour is for the largest share of any row, but limited to this range.
const HOTTEST_SHARES = [0.02, 0.3];

function rgb(colour) {
  const number = parseInt(colour.trim().slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

class Colours {
  // `most` is the largest share of self time of any row.
  constructor(most) {
    const [least, enough] = HOTTEST_SHARES;
    this.hottest = Math.min(Math.max(most, least), enough);
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name);
    this.accent = of("--accent");
    this.text = of("--text");
    this.neutral = of("--neutral");
    this.quiet = of("--quiet");
    this.line = of("--line");
    this.ground = of("--ground");
    this.from = rgb(of("--ground"));
    this.to = rgb(this.accent);
  }

  strength(share) {
    return Math.sqrt(Math.min(Math.max(share, 0) / this.hottest, 1));
  }

  mixed(amount) {
    return this.from.map((from, at) => Math.round(from + (this.to[at] - from) * amount));
  }

  // Rows with more self time have a stronger colour.
  heat(share, least) {
    return `rgb(${this.mixed(least + (1 - least) * this.strength(share)).join(" ")})`;
  }

  // The same colour, but so pale that any text can be read on it.
  tint(share) {
    return `rgb(${this.to.join(" ")} / ${Math.round(this.strength(share) * 50)}%)`;
  }

  // The colour for text on a background of `heat`.
  on(share) {
    const [red, green, blue] = this.mixed(0.12 + 0.88 * this.strength(share)).map((part) => (part / 255) ** 2.2);
    // On a brighter background, black has more contrast than white.
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.18 ? "#111111" : "#ffffff";
  }
}
