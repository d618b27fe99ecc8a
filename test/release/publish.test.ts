import { createHash } from 'node:crypto'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { describingPublisher, publisherOf } from '../../scripts/release/publish-parts.ts'
import { RegistryClient } from '../../scripts/release/registry-client.ts'
import { pathsOf, type ReleaseJob } from '../../scripts/release/release-job.ts'
import type { CommandRunner } from '../../scripts/release/run-command.ts'

const unused = new RegistryClient({ name: '127.0.0.1:1/unused' })
const tarball = Buffer.from('package')
const integrity = `sha512-${createHash('sha512').update(tarball).digest('base64')}`

describe('the page of a version', () => {
  it('is created as a draft, and then gets its files', async () => {
    const { publisher, commands } = start({ view: new Error('gh release view v1.2.3 ended with 1: release not found') })
    await publisher.draftPage()
    expect(commands()).toEqual([
      expect.stringMatching(/^gh release view v1\.2\.3 /),
      expect.stringMatching(/^gh release create v1\.2\.3 --repo owner\/name --draft --verify-tag .*--notes-file \S+notes\.md$/),
      expect.stringMatching(/^gh release upload v1\.2\.3 --repo owner\/name --clobber \S+SHA256SUMS$/),
    ])
  })

  it('keeps the draft of an earlier attempt, and replaces its files', async () => {
    const { publisher, commands } = start({ view: '{"isDraft":true}' })
    await publisher.draftPage()
    expect(commands().map((command) => command.split(' ')[2])).toEqual(['view', 'edit', 'upload'])
    expect(commands().join()).not.toContain('--draft=false')
  })

  it('is shown by the last step', async () => {
    const { publisher, commands } = start({ view: '{"isDraft":true}' })
    await publisher.publishPage()
    expect(commands().at(-1)).toBe('gh release edit v1.2.3 --repo owner/name --draft=false --latest')
  })

  it('that people see already is never changed', async () => {
    const { publisher, commands } = start({ view: '{"isDraft":false}' })
    expect(await publisher.draftPage()).toContain('published already')
    expect(await publisher.publishPage()).toContain('published already')
    expect(commands().every((command) => command.startsWith('gh release view'))).toBe(true)
  })

  it('is not created after another error of gh', async () => {
    const { publisher, commands } = start({ view: new Error('gh release view ended with 4: no token') })
    await expect(publisher.draftPage()).rejects.toThrow('no token')
    expect(commands()).toHaveLength(1)
  })
})

describe('the npm package', () => {
  const missing = new Error('npm view ended with 1', { cause: { stderr: 'npm error code E404' } })

  it('is published with provenance if there is none', async () => {
    const { publisher, commands } = start({ npm: missing })
    await publisher.publishNpm()
    expect(commands()).toEqual([
      'npm view @owner/tranche@1.2.3 dist.integrity',
      expect.stringMatching(/^npm publish \/\S+\.tgz --provenance --access public$/),
    ])
  })

  it('with the same content is there already', async () => {
    const { publisher, commands } = start({ npm: integrity })
    expect(await publisher.publishNpm()).toContain('published already')
    expect(commands()).toHaveLength(1)
  })

  it('with another content is an error, and is not published', async () => {
    const { publisher, commands } = start({ npm: 'sha512-other' })
    await expect(publisher.publishNpm()).rejects.toThrow('another content, sha512-other')
    expect(commands()).toHaveLength(1)
  })

  it('is not published if npm cannot be asked', async () => {
    const { publisher, commands } = start({ npm: new Error('npm view ended with 1', { cause: { stderr: 'npm error code ETIMEDOUT' } }) })
    await expect(publisher.publishNpm()).rejects.toThrow('npm view')
    expect(commands()).toHaveLength(1)
  })
})

it('a program gets only the secrets that it needs', async () => {
  const { publisher, secrets } = start({ view: '{"isDraft":true}', npm: new Error('none', { cause: { stderr: 'E404' } }) })
  await publisher.draftPage()
  await publisher.publishNpm()
  await publisher.publishPage()
  expect(secrets()).toEqual(['gh release: GH_TOKEN', 'npm view: none', 'npm publish: ACTIONS_ID_TOKEN_REQUEST_TOKEN'])
})

describe('a dry run', () => {
  it('says what each step would do, and runs nothing', async () => {
    const publisher = describingPublisher(jobIn(temporary()))
    const said = [await publisher.pushParts(), await publisher.draftPage(), await publisher.tagParts()]
    said.push(await publisher.publishNpm(), await publisher.publishPage())
    expect(said.filter((text) => !text.startsWith('would '))).toEqual([])
    expect(said.join()).toContain('registry.example/team/tranche@sha256:11')
  })
})

/** What the programs answer; an error is thrown. */
interface Answers {
  readonly view?: string | Error
  readonly npm?: string | Error
}

function start({ view = '', npm = '' }: Answers) {
  const said: string[] = []
  const secrets: string[] = []
  const run: CommandRunner = (program, args, options) => {
    said.push([program, ...args].join(' '))
    secrets.push(`${program} ${args[0]}: ${options?.secrets?.join() ?? 'none'}`)
    const answer = args[1] === 'view' ? view : args[0] === 'view' ? npm : ''
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)
  }
  return {
    publisher: publisherOf(jobIn(temporary()), { image: unused, chart: unused }, run),
    commands: () => said,
    secrets: () => [...new Set(secrets)],
  }
}

function jobIn(folder: string): ReleaseJob {
  const job = {
    version: '1.2.3',
    commit: 'c0ffee',
    created: new Date(0),
    addresses: { registry: 'registry.example/team', repository: 'owner/name' },
    workflow: null,
    darwin: null,
    folder,
  }
  const { files, npm, image, chart, notes } = pathsOf(job)
  for (const path of [files, npm, image, chart]) mkdirSync(path)
  for (const [path, digest] of Object.entries({ [image]: 'sha256:11', [chart]: 'sha256:22' }))
    writeFileSync(join(path, 'index.json'), JSON.stringify({ manifests: [{ digest }] }))
  writeFileSync(join(files, 'SHA256SUMS'), '')
  writeFileSync(join(npm, 'package.tgz'), tarball)
  writeFileSync(notes, '')
  return job
}

function temporary(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tranche-publish-test-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  return folder
}
