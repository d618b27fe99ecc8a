import { execFileSync } from 'node:child_process'
import { closeSync, existsSync, globSync, openSync, readFileSync, readSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

const tracked = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '' && existsSync(path))

describe('forms for issues', () => {
  interface Field {
    readonly type: string
    readonly id?: string
    readonly attributes?: { readonly label?: string; readonly value?: string }
    readonly validations?: { readonly required?: boolean }
  }
  const forms = globSync('.github/ISSUE_TEMPLATE/*.yml')
    .filter((path) => !path.endsWith('config.yml'))
    .map((path) => ({ path, form: parse(readFileSync(path, 'utf8')) as { name: string; description: string; body: readonly Field[] } }))

  it('exist for bugs, features and questions', () => {
    expect(forms.map(({ form }) => form.name).toSorted()).toEqual(['Bug', 'Feature', 'Question'])
  })

  it.each(forms)('$path has what GitHub requires: labels, unique ids, and one field that must be filled in', ({ form }) => {
    const inputs = form.body.filter(({ type }) => type !== 'markdown')
    expect(form.description).not.toBe('')
    expect(form.body.filter(({ type }) => !['markdown', 'input', 'textarea', 'dropdown', 'checkboxes'].includes(type))).toEqual([])
    expect(inputs.filter(({ id, attributes }) => !/^[a-z-]+$/.test(id ?? '') || (attributes?.label ?? '') === '')).toEqual([])
    expect(new Set(inputs.map(({ id }) => id)).size).toBe(inputs.length)
    expect(inputs.filter(({ validations }) => validations?.required === true).length).toBeGreaterThan(0)
  })
})

describe('.github/CODEOWNERS', () => {
  const lines = readFileSync('.github/CODEOWNERS', 'utf8')
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
  const paths = lines.map((line) => line.split(/\s+/)[0] ?? '')

  it('names existing paths, and owners in the form of accounts, teams or addresses', () => {
    expect(paths.filter((path) => !existsSync(path.slice(1)))).toEqual([])
    const owners = lines.flatMap((line) => line.split(/\s+/).slice(1))
    expect(owners.filter((owner) => !/^(@[\w-]+(\/[\w-]+)?|[^@\s]+@[^@\s]+)$/.test(owner))).toEqual([])
  })

  it('has the folders of the areas of docs/contribute/maintainers.md', () => {
    const [, table = ''] = readFileSync('docs/contribute/maintainers.md', 'utf8').split('| area | folders |')
    const folders = table.split('\n').flatMap((row) => [...(row.split('|')[2] ?? '').matchAll(/`([^`]+)`/g)].map(([, folder]) => folder))
    expect(folders.length).toBeGreaterThan(10)
    expect(paths.map((path) => path.replace(/^\/|\/$/g, '')).toSorted()).toEqual(folders.toSorted())
  })
})

// Checks of docs/contribute/scorecard.md that files can show.
describe('the repository', () => {
  it('contains no programs: no ELF, PE, Mach-O, WebAssembly or Java class files', () => {
    const starts = ['7f454c46', '4d5a', 'feedface', 'feedfacf', 'cffaedfe', 'cefaedfe', '0061736d', 'cafebabe']
    const programs = tracked.filter((path) => starts.some((start) => firstBytes(path).startsWith(start)))
    expect(programs).toEqual([])
  })

  const workflows = tracked.filter((path) => /^\.github\/workflows\/.+\.ya?ml$/.test(path))

  it('has only workflows with pinned actions, few permissions, and no text of a pull request in a command', () => {
    expect(workflows.flatMap((path) => faultsOfWorkflow(readFileSync(path, 'utf8')).map((fault) => `${path}: ${fault}`))).toEqual([])
  })

  it.each([
    ['no permissions', 'on: push\njobs: {}', 'no permissions'],
    ['all permissions', 'on: push\npermissions: write-all\njobs: {}', 'permissions of the workflow'],
    ['write access for every job', 'on: push\npermissions: { contents: write }\njobs: {}', 'permissions of the workflow'],
    ['an action by tag', 'on: push\npermissions: {}\njobs: { a: { steps: [{ uses: actions/checkout@v5 }] } }', 'actions/checkout@v5'],
    ['pull_request_target', 'on: pull_request_target\npermissions: {}\njobs: {}', 'pull_request_target'],
    [
      'a title in a command',
      `on: push\npermissions: {}\njobs: { a: { steps: [{ run: 'echo \${{ github.event.issue.title }}' }] } }`,
      'github.event',
    ],
  ])('would find a workflow with %s', (_what, text, fault) => {
    expect(faultsOfWorkflow(text).join('; ')).toContain(fault)
  })
})

interface Workflow {
  readonly permissions?: string | Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, { readonly steps?: readonly { readonly uses?: string; readonly run?: string }[] }>>
}

function faultsOfWorkflow(text: string): readonly string[] {
  const { permissions, jobs } = parse(text) as Workflow
  const steps = Object.values(jobs).flatMap((job) => job.steps ?? [])
  const granted = typeof permissions === 'object' ? Object.values(permissions) : [permissions]
  return [
    ...(permissions === undefined ? ['no permissions; write "permissions: {}" or those that every job needs'] : []),
    ...(granted.some((access) => access?.startsWith('write')) ? ['permissions of the workflow include write; give them to one job'] : []),
    ...(/\bpull_request_target\b/.test(text) ? ['pull_request_target runs with secrets; use pull_request'] : []),
    ...steps.flatMap(({ uses }) => (uses === undefined || /^\.\/|@[0-9a-f]{40}$/.test(uses) ? [] : [`${uses} is not pinned to a commit`])),
    ...steps.flatMap(
      ({ run }) => /\$\{\{\s*github\.(event\.[\w.]*(title|body|ref|label|message)|head_ref)\b/.exec(run ?? '')?.slice(0, 1) ?? [],
    ),
  ]
}

function firstBytes(path: string): string {
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(4)
    return bytes.subarray(0, readSync(file, bytes)).toString('hex')
  } finally {
    closeSync(file)
  }
}
