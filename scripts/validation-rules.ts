/** Tables of docs/reference/validation.md: every rule of packages/core/validation, with its code, path and fix. */
import { readFileSync } from 'node:fs'
import { adviceRules, problemRules } from '../packages/core/validation/src/index.ts'

const page = 'docs/reference/validation.md'

interface Rule {
  readonly of: string
  readonly path: string
  readonly says: string
  readonly fix: string
}

/** @returns docs/reference/validation.md with the tables of the rules; the text around them is unchanged */
export function writtenRules(): { readonly path: string; readonly text: string } {
  const tables: Readonly<Record<string, string>> = {
    ...Object.fromEntries(
      ['Rollout', 'BatchRelease', 'ReleasePolicy', 'DaemonSet', 'any'].map((kind) => [kind, tableOf(problemRules, kind)]),
    ),
    advice: tableOf(adviceRules),
  }
  const text = readFileSync(page, 'utf8').replace(
    /(<!-- rules of (\w+) -->\n)[\s\S]*?(<!-- end -->)/g,
    (_all, begin: string, name: string, end: string) => `${begin}\n${tables[name] ?? ''}\n${end}`,
  )
  return { path: page, text }
}

function tableOf(rules: Readonly<Record<string, Rule>>, kind?: string): string {
  const rows = Object.entries(rules)
    .filter(([, { of }]) => kind === undefined || of === kind)
    .map(([code, { path, says, fix }]) => `| \`${code}\` | \`${path}\` | ${cell(says)} | ${cell(fix)} |`)
  return ['| rule | field | says | to do |', '|---|---|---|---|', ...rows, ''].join('\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replace(/(?<= )(?:\{\{|\}\})(?= )|\{[^{} ].*\}/g, '`$&`')
}
