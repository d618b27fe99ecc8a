import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { runActionlint, runZizmor } from '../../scripts/workflows/linters.ts'

describe('the workflows', { timeout: 240_000 }, () => {
  it.each([
    ['actionlint', runActionlint],
    ['zizmor', runZizmor],
  ])('pass %s', (_name, lint) => {
    expect(lint('.')).toEqual({ passed: true, output: expect.any(String) })
  })

  it('would fail actionlint with an unknown permission', () => {
    expect(runActionlint(changed('ci.yml', 'contents: read', 'content: read')).output).toContain('unknown permission scope "content"')
  })

  it('would fail zizmor with an action by tag', () => {
    expect(runZizmor(changed('scorecard.yml', /checkout@\S+/, 'checkout@v7')).output).toContain('unpinned-uses')
  })
})

/** @returns a folder with the workflows, one of them changed */
function changed(name: string, from: string | RegExp, to: string): string {
  const root = mkdtempSync(join(tmpdir(), 'tranche-workflows-'))
  onTestFinished(() => rmSync(root, { recursive: true }))
  cpSync('.github', join(root, '.github'), { recursive: true })
  const file = join(root, '.github/workflows', name)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace(from, to))
  expect(readFileSync(file, 'utf8')).not.toBe(text)
  return root
}
