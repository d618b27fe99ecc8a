import { Ajv } from 'ajv'
import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'

interface CustomManager {
  readonly description: string
  readonly managerFilePatterns: readonly string[]
  readonly matchStrings: readonly string[]
}
const config = JSON.parse(readFileSync('.github/renovate.json', 'utf8')) as {
  readonly customManagers: readonly CustomManager[]
  readonly ignorePaths: readonly string[]
  readonly packageRules: readonly { readonly matchPackageNames?: readonly string[]; readonly matchFileNames?: readonly string[] }[]
}
const [pnpm] = config.customManagers as [CustomManager]
const tracked = execFileSync('git', ['ls-files', '-z'], { encoding: 'utf8' })
  .split('\0')
  .filter((path) => path !== '')

const text = { type: 'string', minLength: 1 }
const texts = { type: 'array', items: text, minItems: 1 }
const updates = { enum: ['major', 'minor', 'patch', 'pin', 'digest', 'lockFileMaintenance'] }

/** The documented options of Renovate that the file uses, with their types; an unknown one has no effect there, and is a fault here. */
const schema = {
  type: 'object',
  additionalProperties: false,
  required: ['extends', 'customManagers'],
  properties: {
    $schema: { const: 'https://docs.renovatebot.com/renovate-schema.json' },
    extends: texts,
    commitMessagePrefix: text,
    commitMessageAction: text,
    schedule: { type: 'array', items: { type: 'string', pattern: '^\\* [\\d*,-]+ [\\d*,-]+ [\\d*,-]+ [\\d*,-]+$' } },
    minimumReleaseAge: { type: 'string', pattern: '^\\d+ (hours|days)$' },
    prConcurrentLimit: { type: 'integer', minimum: 1 },
    rangeStrategy: { enum: ['auto', 'pin', 'bump', 'replace', 'widen', 'update-lockfile', 'in-range-only'] },
    lockFileMaintenance: { type: 'object', additionalProperties: false, properties: { enabled: { type: 'boolean' } } },
    vulnerabilityAlerts: {
      type: 'object',
      additionalProperties: false,
      properties: { enabled: { type: 'boolean' }, minimumReleaseAge: { type: ['string', 'null'] } },
    },
    ignorePaths: texts,
    packageRules: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        properties: {
          matchUpdateTypes: { type: 'array', items: updates },
          matchDepTypes: texts,
          matchPackageNames: texts,
          matchFileNames: texts,
          matchManagers: { type: 'array', items: { enum: ['npm', 'gomod', 'dockerfile', 'github-actions', 'custom.regex'] } },
          groupName: text,
          enabled: { type: 'boolean' },
        },
      },
    },
    customManagers: {
      type: 'array',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['customType', 'managerFilePatterns', 'matchStrings', 'datasourceTemplate'],
        properties: {
          customType: { const: 'regex' },
          description: text,
          managerFilePatterns: { type: 'array', items: { type: 'string', pattern: '^/.+/$' } },
          matchStrings: texts,
          datasourceTemplate: { enum: ['npm', 'docker', 'github-releases'] },
        },
      },
    },
  },
}

describe('.github/renovate.json', () => {
  it('uses documented options, with values of their types', () => {
    const validate = new Ajv({ allErrors: true, allowUnionTypes: true }).compile(schema)
    validate(config)
    expect(validate.errors ?? []).toEqual([])
  })

  it('names files and packages that exist', () => {
    const files = config.packageRules.flatMap(({ matchFileNames }) => matchFileNames ?? [])
    expect(files.filter((file) => !tracked.includes(file))).toEqual([])
    const named = config.packageRules.flatMap(({ matchPackageNames }) => matchPackageNames ?? [])
    const manifests = globSync('{package.json,{apps,test}/*/package.json,packages/*/*/package.json}').map((file) =>
      readFileSync(file, 'utf8'),
    )
    expect(named.filter((name) => !manifests.some((manifest) => manifest.includes(`"${name}":`)))).toEqual([])
  })

  // The version of a command must be the one of packageManager, which Renovate updates by itself.
  it('finds pnpm in every file that names its version, except package.json', () => {
    const { packageManager } = JSON.parse(readFileSync('package.json', 'utf8')) as { packageManager: string }
    const naming = tracked.filter(
      (path) => /\.(md|ts|mjs|sh|json|yml)$|^\.ci\//.test(path) && readFileSync(path, 'utf8').includes(`npx -y ${packageManager}`),
    )
    expect(naming.length).toBeGreaterThan(5)
    expect(naming.filter((path) => !finds(pnpm, path))).toEqual([])
    expect(matchIn(pnpm, `npx -y ${packageManager} install`)).toEqual({
      depName: 'pnpm',
      currentValue: packageManager.slice('pnpm@'.length),
    })
  })

  it('leaves out the files that Argo CD and Flux publish', () => {
    expect(config.ignorePaths).toContain('examples/gitops/vendor/**')
    expect(tracked.some((path) => path.startsWith('examples/gitops/vendor/'))).toBe(true)
  })
})

describe('the catalog of pnpm-workspace.yaml', () => {
  it('has exact versions, so that each update is a change to review', () => {
    const { catalog } = parse(readFileSync('pnpm-workspace.yaml', 'utf8')) as { catalog: Readonly<Record<string, string>> }
    expect(Object.entries(catalog).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))).toEqual([])
  })
})

function finds(manager: CustomManager, path: string): boolean {
  const patterns = manager.managerFilePatterns.map((pattern) => new RegExp(pattern.slice(1, -1)))
  return patterns.some((pattern) => pattern.test(path)) && matchIn(manager, readFileSync(path, 'utf8')) !== null
}

function matchIn({ matchStrings }: CustomManager, content: string): Readonly<Record<string, string>> | null {
  const groups = matchStrings.map((pattern) => new RegExp(pattern).exec(content)?.groups).find((found) => found !== undefined)
  return groups === undefined ? null : { ...groups }
}
