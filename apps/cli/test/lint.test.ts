import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runAlone } from './run-alone.ts'

const rollout = `
apiVersion: rollouts.kruise.io/v1beta1
kind: Rollout
metadata: {name: node-agent, namespace: demo}
spec:
  workloadRef: {apiVersion: apps/v1, kind: DaemonSet, name: node-agent}
  strategy:
    canary:
      steps:
        - {replicas: 10%, pause: {}}
        - {replicas: 100%}
`
const shrinking = rollout.replace('replicas: 100%', 'replicas: 5%, traffic: 5%')
const daemonSet = `
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: node-agent, namespace: demo}
spec: {updateStrategy: {type: OnDelete}}
`

describe('tranche lint', () => {
  let folder: string
  beforeEach(() => void (folder = mkdtempSync(join(tmpdir(), 'tranche-test-'))))
  afterEach(() => rmSync(folder, { recursive: true }))

  it('reports that documents are valid, and exits with 0', async () => {
    await expect(lint(['-f', '-'], `${rollout}---${daemonSet}`)).resolves.toEqual({
      code: 0,
      out: '2 objects checked in 2 documents: no problems\n',
      err: '',
    })
  })

  it('names the config that a policy among the documents pins, without a finding', async () => {
    const pinning = rollout.replace('namespace: demo}', 'namespace: demo, annotations: {tranche.dev/release-policy: careful}}')
    const policy = `
apiVersion: tranche.dev/v1alpha1
kind: ReleasePolicy
metadata: {name: careful, namespace: demo}
spec: {config: Pin}
`
    const reading = daemonSet.replace(
      '{updateStrategy',
      '{template: {spec: {volumes: [{name: v, configMap: {name: agent}}]}}, updateStrategy',
    )
    await expect(lint(['-f', '-'], [pinning, reading, policy].join('---'))).resolves.toEqual({
      code: 0,
      out: `DaemonSet demo/node-agent: pinned by copies (config: Pin of ReleasePolicy careful): ConfigMap agent

3 objects checked in 3 documents: no problems
`,
      err: '',
    })
  })

  it('fails for an endless device', async () => {
    const { code, err } = await lint(['-f', '/dev/zero'], '')
    expect(code).toBe(1)
    expect(err).toMatch(/^FILE_UNREADABLE: \/dev\/zero cannot be read: it is larger than 64 MiB\. Split it/)
  })

  it('reports every problem with document, field, value and fix, and exits with 1', async () => {
    await expect(lint(['-f', '-'], `kind: ConfigMap\n---${shrinking}`)).resolves.toEqual({
      code: 1,
      err: '',
      out: `standard input, document 2 (line 3): Rollout demo/node-agent
  problem  spec.strategy.canary.steps[1].traffic is "5%"
           traffic to DaemonSet pods depends on the node and cannot be routed by revision (StepTraffic)
           fix: remove it
  problem  spec.strategy.canary.steps[1].replicas is "5%"
           sizes are cumulative and must not shrink, and steps[0] has "10%" (StepShrinks)
           fix: set it to at least "10%", or make steps[0] smaller
  advice   spec.strategy.canary.steps[1].replicas is "5%"
           the last step is below 100%, so the remaining nodes follow in one more batch after its pause (LastStepBelowAll)
           fix: add a step of "100%" to make that explicit

1 object checked in 2 documents: 2 problems, 1 piece of advice
`,
    })
  })

  it('prints the findings as JSON, each with its document', async () => {
    const { code, out } = await lint(['-f', '-', '-o', 'json'], shrinking)
    expect(code).toBe(1)
    const document = {
      source: '-',
      index: 1,
      line: 2,
      apiVersion: 'rollouts.kruise.io/v1beta1',
      kind: 'Rollout',
      namespace: 'demo',
      name: 'node-agent',
    }
    expect(JSON.parse(out)).toMatchObject([
      { document, level: 'problem', rule: 'StepTraffic', path: 'spec.strategy.canary.steps[1].traffic', value: '5%', fix: 'remove it' },
      { document, level: 'problem', rule: 'StepShrinks', path: 'spec.strategy.canary.steps[1].replicas', value: '5%' },
      { document, level: 'advice', rule: 'LastStepBelowAll' },
    ])
    expect(JSON.parse((await lint(['-f', '-', '-o', 'json'], rollout)).out)).toEqual([])
  })

  it('does not fail for advice', async () => {
    const { code, out } = await lint(['-f', '-'], `${rollout}---${daemonSet.replace('OnDelete', 'RollingUpdate')}`)
    expect(code).toBe(0)
    expect(out).toContain('  advice   spec.updateStrategy.type is "RollingUpdate"\n')
    expect(out).toContain('no problems, 1 piece of advice\n')
  })

  it('reports documents without a checked kind', async () => {
    const { code, out } = await lint(['-f', '-'], 'kind: ConfigMap\n---\nkind: Service\n')
    expect([code, out]).toEqual([0, 'no checked kinds in 2 documents: no problems\n'])
  })

  it.each([
    ['nothing', '', 'the document\n           it is empty'],
    ['a comment alone', '# later\n', 'the document\n           it is empty'],
    ['a text', 'hello', 'the document\n           it cannot be read: it holds "hello", and not an object with apiVersion and kind'],
  ])('fails where %s is checked', async (_what, text, says) => {
    const { code, out } = await lint(['-f', '-'], text)
    expect(code).toBe(1)
    expect(out).toContain(`standard input, document 1 (line 1)\n  problem  ${says} (Syntax)\n`)
  })

  it('suggests the spelling of a misspelt Tranche kind', async () => {
    const { code, out } = await lint(['-f', '-'], rollout.replace('kind: Rollout', 'kind: rollout'))
    expect(code).toBe(0)
    expect(out).toContain('  advice   kind is "rollout"\n')
    expect(out).toContain('           fix: set it to Rollout\n')
  })

  it('checks policies against the hosts of --allow-host, and not without any', async () => {
    const policy = `
apiVersion: tranche.dev/v1alpha1
kind: ReleasePolicy
metadata: {name: careful, namespace: demo}
spec:
  notify:
    - {name: pager, webhook: {url: 'https://pager.example.com/hook'}}
`
    expect((await lint(['-f', '-'], policy)).out).toBe('1 object checked in 1 document: no problems\n')
    expect((await lint(['-f', '-', '--allow-host', '*.example.com'], policy)).out).toBe('1 object checked in 1 document: no problems\n')
    const { code, out } = await lint(['-f', '-', '--allow-host', 'hooks.slack.com'], policy)
    expect(code).toBe(0)
    expect(out).toContain(`  advice   spec.notify[0].webhook.url is "https://pager.example.com/hook"
           pager.example.com is not an allowed host (HostNotAllowed)
           fix: use another host, or start the controller with --allow-host pager.example.com
`)
    expect((await lint(['-f', '-', '--allow-host', 'https://x'], policy)).err).toContain('--allow-host')
  })

  it('warns that Tranche leaves other workloads alone', async () => {
    const { code, out } = await lint(['-f', '-'], rollout.replace('kind: DaemonSet', 'kind: Deployment'))
    expect(code).toBe(0)
    expect(out).toContain('spec.workloadRef is "Deployment of apps/v1"')
  })

  it('checks files together, so that a Rollout and its DaemonSet may be in different files', async () => {
    const [first, second] = [join(folder, 'rollout.yaml'), join(folder, 'daemonset.json')]
    writeFileSync(first, rollout)
    writeFileSync(
      second,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'List',
        items: [
          {
            apiVersion: 'apps/v1',
            kind: 'DaemonSet',
            metadata: { name: 'node-agent', namespace: 'demo' },
            spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: { maxUnavailable: 0 } } },
          },
        ],
      }),
    )
    const { code, out } = await lint(['-f', first, '-f', second])
    expect(code).toBe(1)
    expect(out).toContain(
      `${second}, document 1 (line 1): DaemonSet demo/node-agent\n  problem  spec.updateStrategy.rollingUpdate.maxUnavailable is 0\n`,
    )
  })

  it.each([
    { paths: ['.'], isRecursive: false, want: ['a.yaml', 'b.yml', 'c.json'] },
    { paths: ['.'], isRecursive: true, want: ['a.yaml', 'b.yml', 'c.json', 'deep/er/e.yaml'] },
    { paths: ['deep', 'a.yaml', '.'], isRecursive: true, want: ['deep/er/e.yaml', 'a.yaml', 'b.yml', 'c.json'] },
    { paths: ['notes.txt'], isRecursive: false, want: ['notes.txt'] },
  ])('reads the files $want of $paths (recursive: $isRecursive)', async ({ paths, isRecursive, want }) => {
    mkdirSync(join(folder, 'deep/er'), { recursive: true })
    symlinkSync(folder, join(folder, 'deep/back.yaml'))
    for (const file of ['a.yaml', 'b.yml', 'c.json', 'notes.txt', 'deep/er/e.yaml']) writeFileSync(join(folder, file), 'hello')
    const { out } = await lint(['-o', 'json', ...(isRecursive ? ['-R'] : []), ...paths.flatMap((path) => ['-f', join(folder, path)])])
    const sources = (JSON.parse(out) as readonly { readonly document: { readonly source: string } }[]).map(
      ({ document }) => document.source,
    )
    expect(sources).toEqual(want.map((file) => join(folder, file)))
  })

  it('reports files in a folder that are not manifests, and checks the others', async () => {
    writeFileSync(join(folder, 'rollout.yaml'), shrinking)
    writeFileSync(join(folder, 'template.yaml'), '{{ if .Values.x }}\nkind: Rollout\n{{ end }}\n')
    const { code, out } = await lint(['-f', folder])
    expect(code).toBe(1)
    expect(out).toContain(`${join(folder, 'template.yaml')}, document 1 (line 2)\n  problem  the document\n           it cannot be read: `)
    expect(out).toContain('steps[0] has "10%"')
  })

  it.each([
    {
      title: 'is empty',
      folders: [],
      args: [],
      says: 'contains no .yaml, .yml or .json file. Name a folder with manifests, or a file.',
    },
    {
      title: 'contains only folders',
      folders: ['deep'],
      args: [],
      says: 'itself contains no .yaml, .yml or .json file. Add -R to include',
    },
    {
      title: 'contains empty folders',
      folders: ['deep'],
      args: ['-R'],
      says: 'contains no .yaml, .yml or .json file. Name a folder',
    },
  ])('refuses a folder that $title', async ({ folders, args, says }) => {
    for (const name of folders) mkdirSync(join(folder, name))
    const { code, out, err } = await lint(['-f', folder, ...args])
    expect([code, out]).toEqual([1, ''])
    expect(err).toContain(`FILE_UNREADABLE: the folder ${folder} ${says}`)
  })

  it.each([
    ['YAML that is none', 'a: b: c', 'it cannot be read: Nested mappings'],
    ['a duplicate key', 'a: 1\na: 2', 'it cannot be read: Map keys must be unique'],
    [
      'anchors that multiply',
      `a: &a [x,x,x,x,x,x,x,x,x]\n${'bcdefgh'.replace(
        /./g,
        (c) =>
          `${c}: &${c} [${Array(9)
            .fill(`*${String.fromCharCode(c.charCodeAt(0) - 1)}`)
            .join()}]\n`,
      )}`,
      'it cannot be read: its aliases repeat more than 100000 values',
    ],
  ])('reports %s, and checks the other documents', async (_what, text, why) => {
    const { code, out } = await lint(['-f', '-'], `${text}\n---${shrinking}`)
    expect(code).toBe(1)
    expect(out).toContain(`standard input, document 1 (line `)
    expect(out).toContain(why)
    expect(out).toContain('steps[0] has "10%"')
  })

  it('prints no control characters', async () => {
    const { out } = await lint(['-f', '-'], rollout.replace('replicas: 10%', 'replicas: "\\e[31mred\\u202E"'))
    expect(out).toContain('[31mred')
    expect(out).not.toContain('\u001b')
    expect(out).not.toContain('\u202e')
  })

  it('colours only for a terminal, and not with NO_COLOR or --no-color', async () => {
    const colour = '\u001b['
    expect((await lint(['-f', '-'], shrinking, { isTTY: true })).out).toContain(colour)
    expect((await lint(['-f', '-', '--no-color'], shrinking, { isTTY: true })).out).not.toContain(colour)
    expect((await lint(['-f', '-'], shrinking)).out).not.toContain(colour)
  })

  it.each([
    [['lint'], 2, 'OPTION_INVALID: lint requires a file. Add -f FILE, or -f - for standard input.\n'],
    [['lint', '-f', ''], 2, 'OPTION_INVALID: --filename does not take "". Give the path of a file, or - for standard input.\n'],
    [['lint', '-f', '-', '-o', 'yaml'], 2, 'OPTION_INVALID: --output does not take "yaml". Give json.\n'],
    [['lint', '-f', '/does/not/exist'], 1, 'FILE_UNREADABLE: /does/not/exist cannot be read: ENOENT'],
  ])('%j exits with %i', async (args, code, says) => {
    const ended = await lint(args.slice(1))
    expect(ended.code).toBe(code)
    expect(ended.err).toContain(says)
    expect(ended.out).toBe('')
  })
})

async function lint(args: readonly string[], input = '', out: { readonly isTTY?: boolean } = {}) {
  const texts = { out: '', err: '' }
  const code = await runAlone(['lint', ...args], {
    in: (async function* () {
      yield input
    })(),
    out: { ...out, write: (text: string) => void (texts.out += text) },
    err: { write: (text: string) => void (texts.err += text) },
    env: {},
  })
  return { code, ...texts }
}
