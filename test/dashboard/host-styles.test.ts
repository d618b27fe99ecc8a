import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { compactStyles } from '../../scripts/host-plugins/compact-styles.ts'
import { scopedStyles } from '../../scripts/host-plugins/scoped-styles.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

function styled(text: string): string {
  const file = join(folder, 'index.css')
  writeFileSync(file, text)
  const all = scopedStyles([file])
  return all.slice(all.indexOf('.tranche-host.tranche-host.tranche-host {'))
}

it('puts the rules of the whole page on the frame, and drops those of paper', () => {
  const text = styled(':root { color-scheme: light dark; }\nhtml { color: red; }\n@page { margin: 1mm; }\n.body-text, tbody { margin: 0; }')
  expect(text).toBe(
    '.tranche-host.tranche-host.tranche-host {\n& { color-scheme: light dark; }\n& { color: red; }\n\n.body-text, tbody { margin: 0; }\n}\n',
  )
})

it('measures in pixels, and by the width of the frame', () => {
  expect(styled('@media (max-width: 48rem) { .a { padding: 0.5rem 2rem; } }')).toContain(
    '@container tranche (max-width: 768px) { .a { padding: 7.5px 30px; } }',
  )
})

it('includes what a style sheet imports', () => {
  writeFileSync(join(folder, 'part.css'), '.part { margin: 0; }')
  expect(styled('@import "./part.css";')).toContain('.part { margin: 0; }')
})

it.each([
  ['comments', '/* The page. */\na { margin: 0; } /* b { */\nc { top: 0; }', 'a { margin: 0; }c { top: 0; }'],
  ['indents and ends of lines', 'a,\nb {\n  margin: 0;\n\n}\n', 'a,b {margin: 0;}'],
  ['no end of a line within a value', 'a {\n  grid:\n    b\n    c;\n}', 'a {grid:\nb\nc;}'],
  ['no text in quotes', 'a::before { content: "/* \\" */"; }', 'a::before { content: "/* \\" */"; }'],
])('loses %s', (_what, text, rest) => {
  expect(compactStyles(text)).toBe(rest)
})
