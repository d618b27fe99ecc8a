import { existsSync, globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { nodeVersion } from '../../scripts/image/node-program.ts'
import { releaseVariables } from '../../scripts/release/credentials.ts'

interface WorkflowStep {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
  readonly env?: Readonly<Record<string, string>>
}

interface WorkflowJob {
  readonly permissions?: Readonly<Record<string, string>>
  readonly 'timeout-minutes'?: number
  readonly environment?: string
  readonly container?: string
  readonly env?: Readonly<Record<string, string>>
  readonly needs?: string | readonly string[]
  readonly steps: readonly WorkflowStep[]
}

interface WorkflowFile {
  readonly permissions: Readonly<Record<string, string>>
  readonly concurrency?: object
  readonly jobs: Readonly<Record<string, WorkflowJob>>
}

const { scripts, packageManager } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>
  readonly packageManager: string
}
const files = globSync('.github/workflows/*.yml').map((path) => ({ path, text: readFileSync(path, 'utf8') }))
const workflows = files.map(({ path, text }) => ({ path, workflow: parse(text) as WorkflowFile }))
const jobs = workflows.flatMap(({ path, workflow }) =>
  Object.entries(workflow.jobs).map(([name, job]) => ({ name: `${path} ${name}`, job })),
)
const steps = jobs.flatMap(({ name, job }) => job.steps.map((step) => ({ name, step })))
const release = workflows.find(({ path }) => path.endsWith('release.yml'))!.workflow.jobs

describe('the workflows', () => {
  it('are those for changes, releases, the site and the scorecard', () => {
    expect(files.map(({ path }) => path.split('/').at(-1)).toSorted()).toEqual(['ci.yml', 'docs-site.yml', 'release.yml', 'scorecard.yml'])
  })

  it('run only scripts of the repository, in the version of pnpm that package.json names', () => {
    const commands = steps.flatMap(({ step }) => (step.run === undefined ? [] : [step.run]))
    expect(commands.length).toBeGreaterThan(5)
    expect(commands.filter((command) => !callsScript(command))).toEqual([])
  })

  it.each([
    'echo hello',
    'bash .ci/walk',
    'npx -y pnpm@0.0.1 release',
    `npx -y ${packageManager} launch`,
    `npx -y ${packageManager} release; ls`,
  ])('would be rejected with the command "%s"', (command) => {
    expect(callsScript(command)).toBe(false)
  })

  it('pin every action to a commit of 40 digits, with its version as a comment', () => {
    const uses = files.flatMap(({ text }) => [...text.matchAll(/\buses: (.+)$/gm)].map(([, action = '']) => action))
    expect(uses.length).toBeGreaterThan(10)
    expect(uses.filter((action) => !/^[\w.-]+\/[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/.test(action))).toEqual([])
  })

  it('pin an action to the same commit everywhere', () => {
    const pins = files.flatMap(({ text }) =>
      [...text.matchAll(/\buses: ([^@]+)@(.+)$/gm)].map(([, action = '', pin = '']) => `${action}@${pin}`),
    )
    const actions = new Set(pins.map((pin) => pin.split('@')[0]))
    expect(new Set(pins).size).toBe(actions.size)
  })

  it('grant nothing to the workflow, and few permissions to each job', () => {
    expect(workflows.filter(({ workflow }) => Object.keys(workflow.permissions).length > 0)).toEqual([])
    expect(jobs.filter(({ job }) => job.permissions === undefined)).toEqual([])
    const writers = jobs.flatMap(({ name, job }) =>
      Object.entries(job.permissions ?? {}).flatMap(([scope, access]) => (access === 'write' ? [`${name}: ${scope}`] : [])),
    )
    expect(writers.toSorted()).toEqual([
      '.github/workflows/docs-site.yml deploy: id-token',
      '.github/workflows/docs-site.yml deploy: pages',
      '.github/workflows/release.yml release: contents',
      '.github/workflows/release.yml release: id-token',
      '.github/workflows/release.yml release: packages',
      '.github/workflows/scorecard.yml scorecard: security-events',
    ])
  })

  it('have a time limit for each job, and do not run twice at once', () => {
    expect(jobs.filter(({ job }) => job['timeout-minutes'] === undefined)).toEqual([])
    expect(workflows.filter(({ workflow }) => workflow.concurrency === undefined)).toEqual([])
  })

  it('leave no credentials in a checkout', () => {
    const checkouts = steps.filter(({ step }) => step.uses?.startsWith('actions/checkout@') === true)
    expect(checkouts.length).toBeGreaterThan(3)
    expect(checkouts.filter(({ step }) => step.with?.['persist-credentials'] !== false)).toEqual([])
  })

  it('let git read the checkout in a container, whose user is another one', () => {
    const inContainer = jobs.filter(({ job }) => job.container !== undefined)
    expect(inContainer.length).toBeGreaterThan(2)
    expect(
      inContainer.filter(({ job }) => job.env?.['GIT_CONFIG_KEY_0'] !== 'safe.directory' || job.env['GIT_CONFIG_COUNT'] !== '1'),
    ).toEqual([])
  })

  it('build on macOS with the Node.js of the image', () => {
    const versions = steps.flatMap(({ step }) =>
      step.uses?.startsWith('actions/setup-node@') === true ? [step.with?.['node-version']] : [],
    )
    expect(versions).toEqual([nodeVersion()])
  })

  it('release after the tests, in an environment that a maintainer approves', () => {
    expect([release['release']?.needs, release['release']?.environment]).toEqual([['test', 'macos'], 'release'])
  })

  it('give a release every variable that GitHub does not set', () => {
    const env = release['release']?.steps.find(({ run }) => run?.includes(' release ') === true)?.env ?? {}
    const missing = Object.keys(releaseVariables).filter((name) => !/^(ACTIONS|GITHUB)_/.test(name) && env[name] === undefined)
    expect(missing).toEqual([])
  })
})

function callsScript(command: string): boolean {
  const [, file] = /^bash (\S+)$/.exec(command.trim()) ?? []
  if (file !== undefined) return existsSync(file)
  const [, manager, script = ''] = /^npx -y (\S+) ([\w:-]+)( [\w.@/" $-]+)*$/.exec(command.trim()) ?? []
  return manager === packageManager && (script === 'install' || scripts[script] !== undefined)
}
