/** Makes the style sheet of the plugins from that of the dashboard. */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

/** Class of the element around everything that a plugin shows. */
const ROOT = '.tranche-host'

/**
 * Rules before those of the pages: the element inherits nothing from its host, and no rule of the host for elements or single classes reaches
 * what is inside. Pictures keep their attributes, which count as rules.
 */
const reset = `
${ROOT}${ROOT} {
  all: initial;
  display: block;
  container: tranche / inline-size;
}
${ROOT}${ROOT} :where(:not(svg, svg *, canvas)) {
  all: revert;
}
${ROOT}${ROOT} :where(*)::before, ${ROOT}${ROOT} :where(*)::after {
  all: revert;
}
${ROOT}.scheme-light.scheme-light.scheme-light { color-scheme: light; }
${ROOT}.scheme-dark.scheme-dark.scheme-dark { color-scheme: dark; }
`

/**
 * @param entries style sheets, in order
 * @returns one style sheet whose rules apply below the class of the frame only, and win against those of a host
 */
export function scopedStyles(entries: readonly string[]): string {
  const rules = entries.map(withImports).join('\n')
  const own = inPixels(rules.replace(/@page\s*\{[^}]*\}/g, '')).replace(/(^|[\s,{}])(?::root|html|body)(?=\s*\{)/g, '$1&')
  return `${reset}\n${ROOT}${ROOT}${ROOT} {\n${own}\n}\n`
}

/** Size of a text in the dashboard, in pixels: `rem` is that of the host here. */
const REM_PX = 15
/** `rem` in the condition of a media query, in pixels. */
const QUERY_REM_PX = 16

/** Sizes in pixels, and widths of the frame in place of those of the window: a host shows the frame beside its own parts. */
function inPixels(rules: string): string {
  return rules
    .replace(
      /@media \((max|min)-width: ([\d.]+)rem\)/g,
      (_all, end: string, rem: string) => `@container tranche (${end}-width: ${Number(rem) * QUERY_REM_PX}px)`,
    )
    .replace(/([\d.]+)rem\b/g, (_all, rem: string) => `${Number(rem) * REM_PX}px`)
}

function withImports(file: string): string {
  return readFileSync(file, 'utf8').replace(/@import "([^"]+)";/g, (_all, path: string) => withImports(join(dirname(file), path)))
}
