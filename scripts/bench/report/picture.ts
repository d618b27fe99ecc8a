/** Line charts as SVG, readable on light and on dark pages. */

/** A picture with one line per series. */
export interface Picture {
  readonly title: string
  readonly xName: string
  readonly lines: readonly PictureLine[]
}

/** Line through points, by x. */
export interface PictureLine {
  readonly name: string
  readonly points: readonly { readonly x: number; readonly y: number }[]
}

const WIDTH = 640
const PLOT = { left: 64, right: 616, top: 44, bottom: 236 }
const LEGEND_TOP = 296
const LEGEND_STEP = 18
const TICKS = 4
/** Colours that keep a contrast of 3 to 1 on white and on GitHub's dark grey. */
const COLOURS = ['#2f81f7', '#d1642a', '#1f9d55', '#a45bd6', '#c2416b', '#8a7a1f']
const DASHES = ['', '6 4', '2 3', '9 3 2 3', '4 4', '1 4']
const STYLE = [
  'text{font:12px system-ui,sans-serif;fill:#1f2328}',
  '.title{font-weight:600;font-size:14px}',
  '.back{fill:#fff}',
  '.grid{stroke:#d0d7de}',
  '@media(prefers-color-scheme:dark){text{fill:#e6edf3}.back{fill:#0d1117}.grid{stroke:#3d444d}}',
].join('')

/**
 * Draws a picture. The x axis is logarithmic when its greatest value is at least ten times its smallest above zero; zero is then at the
 * left edge.
 *
 * @returns SVG file
 */
export function drawPicture(picture: Picture): string {
  const xs = [...new Set(picture.lines.flatMap(({ points }) => points.map(({ x }) => x)))].toSorted((a, b) => a - b)
  const top = niceTop(Math.max(...picture.lines.flatMap(({ points }) => points.map(({ y }) => y))))
  const atX = xScale(xs)
  const atY = (y: number): number => PLOT.bottom - (y / top) * (PLOT.bottom - PLOT.top)
  const height = LEGEND_TOP + LEGEND_STEP * picture.lines.length + 4
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escaped(picture.title)}">`,
    `<style>${STYLE}</style>`,
    // A page may be dark on a light system.
    `<rect class="back" width="${WIDTH}" height="${height}" rx="6"/>`,
    `<text class="title" x="${PLOT.left}" y="24">${escaped(picture.title)}</text>`,
    ...Array.from({ length: TICKS + 1 }, (_, at) => yTick((top / TICKS) * at, atY)),
    ...xs.map((x) => `<text x="${point(atX(x))}" y="${PLOT.bottom + 18}" text-anchor="middle">${x.toLocaleString('en-US')}</text>`),
    `<text x="${(PLOT.left + PLOT.right) / 2}" y="${PLOT.bottom + 36}" text-anchor="middle">${escaped(picture.xName)}</text>`,
    ...picture.lines.flatMap((line, at) => drawLine(line, at, { atX, atY })),
    '</svg>',
    '',
  ].join('\n')
}

type Scale = (value: number) => number

function xScale(xs: readonly number[]): Scale {
  const [first = 0] = xs
  const least = xs.find((x) => x > 0) ?? 1
  const most = xs.at(-1) ?? 1
  const width = PLOT.right - PLOT.left - 48
  if (most < 10 * least) return (x) => PLOT.left + 24 + (width * (x - first)) / (most - first || 1)
  const from = first === 0 ? Math.log(least) - (Math.log(most) - Math.log(least)) / 3 : Math.log(least)
  return (x) => PLOT.left + 24 + (x === 0 ? 0 : (width * (Math.log(x) - from)) / (Math.log(most) - from))
}

/** @returns the smallest of 1, 1.2, 1.6, 2, 4, 6, 8 and 10 times a power of ten that is not below the value */
function niceTop(most: number): number {
  if (!(most > 0)) return 1
  const power = 10 ** Math.floor(Math.log10(most))
  return power * ([1, 1.2, 1.6, 2, 4, 6, 8].find((factor) => factor * power >= most) ?? 10)
}

function yTick(value: number, atY: Scale): string {
  const y = point(atY(value))
  const text = Number(value.toPrecision(3)).toLocaleString('en-US')
  return `<line class="grid" x1="${PLOT.left}" x2="${PLOT.right}" y1="${y}" y2="${y}"/><text x="${PLOT.left - 8}" y="${Number(y) + 4}" text-anchor="end">${text}</text>`
}

function drawLine(
  { name, points }: PictureLine,
  at: number,
  { atX, atY }: { readonly atX: Scale; readonly atY: Scale },
): readonly string[] {
  const colour = COLOURS[at % COLOURS.length]
  const dash = DASHES[at % DASHES.length]
  const stroke = `stroke="${colour}" stroke-width="2"${dash === '' ? '' : ` stroke-dasharray="${dash}"`}`
  const sorted = points.toSorted((a, b) => a.x - b.x)
  const y = LEGEND_TOP + LEGEND_STEP * at
  return [
    `<polyline fill="none" ${stroke} points="${sorted.map((one) => `${point(atX(one.x))},${point(atY(one.y))}`).join(' ')}"/>`,
    ...sorted.map((one) => `<circle cx="${point(atX(one.x))}" cy="${point(atY(one.y))}" r="3" fill="${colour}"/>`),
    `<line x1="${PLOT.left}" x2="${PLOT.left + 28}" y1="${y - 4}" y2="${y - 4}" ${stroke}/>`,
    `<text x="${PLOT.left + 36}" y="${y}">${escaped(name)}</text>`,
  ]
}

function point(value: number): string {
  return value.toFixed(1)
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}
