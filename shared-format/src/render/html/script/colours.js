// Colours of the theme, and how hot a row is.

// With this share of the time in itself a row is as hot as it gets.
const HOTTEST_SHARE = 0.3;

function rgb(colour) {
  const number = parseInt(colour.trim().slice(1), 16);
  return [number >> 16, (number >> 8) & 255, number & 255];
}

class Colours {
  constructor() {
    const style = getComputedStyle(document.documentElement);
    const of = (name) => style.getPropertyValue(name);
    this.accent = of("--accent");
    this.text = of("--text");
    this.neutral = of("--neutral");
    this.from = rgb(of("--ground"));
    this.to = rgb(this.accent);
  }

  static strength(share) {
    return Math.sqrt(Math.min(Math.max(share, 0) / HOTTEST_SHARE, 1));
  }

  mixed(amount) {
    return this.from.map((from, at) => Math.round(from + (this.to[at] - from) * amount));
  }

  // The stronger the colour, the more time is spent in the row itself.
  heat(share, least) {
    return `rgb(${this.mixed(least + (1 - least) * Colours.strength(share)).join(" ")})`;
  }

  // The same behind letters, thin enough for any of them.
  tint(share) {
    return `rgb(${this.to.join(" ")} / ${Math.round(Colours.strength(share) * 50)}%)`;
  }

  // Letters that can be read on that.
  on(share) {
    const [red, green, blue] = this.mixed(0.12 + 0.88 * Colours.strength(share));
    return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#111111" : "#ffffff";
  }
}
