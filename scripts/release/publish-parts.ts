/** Publishes what was built and verified. Each step may be run again: what exists is skipped, and what differs is an error. */
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { chartFolderOf, imageOf, npmNameOf } from './addresses.ts'
import { draftCommands, GH_OPTIONS, pageState, publishCommand, type ReleaseDraft } from './github-release.ts'
import { indexOfLayout, pushLayout, tagImage } from './push-layout.ts'
import { type RegistryAccount, RegistryClient } from './registry-client.ts'
import type { PartClients } from './rehearse.ts'
import { pathsOf, type ReleaseJob } from './release-job.ts'
import type { CommandRunner } from './run-command.ts'
import { attachSignatures } from './sign-parts.ts'

/** Publishes the parts of one version. Each method says what it did, in one line. */
export interface Publisher {
  /** Pushes image and chart by digest, with signatures: no tag shows them yet. */
  pushParts(): Promise<string>
  /** Writes a draft of the version's page with all files, which only maintainers see. */
  draftPage(): Promise<string>
  /** From here on, users find the image and the chart by version. */
  tagParts(): Promise<string>
  publishNpm(): Promise<string>
  /** Shows the page. */
  publishPage(): Promise<string>
}

/** @returns clients of the registry of a release */
export function publicClients({ addresses }: ReleaseJob, account: RegistryAccount): PartClients {
  return {
    image: new RegistryClient({ name: imageOf(addresses), account }),
    chart: new RegistryClient({ name: `${chartFolderOf(addresses)}/tranche`, account }),
  }
}

/** @returns a publisher that publishes */
export function publisherOf(job: ReleaseJob, clients: PartClients, run: CommandRunner): Publisher {
  const parts = Object.entries(clients) as readonly [keyof PartClients, RegistryClient][]
  return {
    pushParts: async () => {
      for (const [part, client] of parts) {
        await pushLayout(pathsOf(job)[part], client)
        await attachSignatures(job, part, client)
      }
      return describeParts(job)
    },
    draftPage: async () => {
      const draft = draftOf(job)
      const state = await pageState(draft, run)
      if (state === 'published') return `${draft.tag} is published already; its files stay`
      for (const args of draftCommands(draft, state === 'draft')) await run('gh', args, GH_OPTIONS)
      return `${draft.tag} with ${draft.files.length} files`
    },
    tagParts: async () => {
      for (const [part, client] of parts) await tagImage(client, job.version, indexOfLayout(pathsOf(job)[part]).digest)
      return `image and chart ${job.version}`
    },
    publishNpm: () => publishNpm(job, run),
    publishPage: async () => {
      const draft = draftOf(job)
      if ((await pageState(draft, run)) === 'published') return `${draft.tag} is published already`
      await run('gh', publishCommand(draft), GH_OPTIONS)
      return draft.tag
    },
  }
}

/** @returns a publisher that only says what it would do */
export function describingPublisher(job: ReleaseJob): Publisher {
  const would = (text: string): Promise<string> => Promise.resolve(`would ${text}`)
  return {
    pushParts: () => would(`push ${describeParts(job)}`),
    draftPage: () => {
      const draft = draftOf(job)
      const commands = draftCommands(draft, false).map(([, verb]) => `gh release ${verb}`)
      return would(`run ${commands.join(' and ')}: ${draft.tag} with ${draft.files.length} files`)
    },
    tagParts: () => would(`tag image and chart with ${job.version}`),
    publishNpm: () => would(`run npm publish --provenance: ${npmNameOf(job.addresses)}@${job.version}`),
    publishPage: () => would(`run gh ${publishCommand(draftOf(job)).join(' ')}`),
  }
}

async function publishNpm(job: ReleaseJob, run: CommandRunner): Promise<string> {
  const id = `${npmNameOf(job.addresses)}@${job.version}`
  const file = packageFile(job)
  const own = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
  const found = await run('npm', ['view', id, 'dist.integrity']).catch((error: unknown) => {
    if (/E404|is not in this registry/.test(String(error instanceof Error && (error.cause as { stderr?: string }).stderr))) return ''
    throw error
  })
  if (found === own) return `${id} is published already`
  if (found !== '')
    throw new Error(`npm has ${id} with another content, ${found}; a published version is never replaced, release the next one`)
  await run('npm', ['publish', file, '--provenance', '--access', 'public'], { secrets: ['ACTIONS_ID_TOKEN_REQUEST_TOKEN'] })
  return id
}

function draftOf(job: ReleaseJob): ReleaseDraft {
  const { files, notes } = pathsOf(job)
  const paths = readdirSync(files).map((name) => join(files, name))
  return { repository: job.addresses.repository, tag: `v${job.version}`, notes, files: paths }
}

function packageFile(job: ReleaseJob): string {
  const { npm } = pathsOf(job)
  return resolve(npm, readdirSync(npm)[0]!)
}

function describeParts(job: ReleaseJob): string {
  const { image, chart } = pathsOf(job)
  const chartName = `${chartFolderOf(job.addresses)}/tranche`
  return `${imageOf(job.addresses)}@${indexOfLayout(image).digest} and ${chartName}@${indexOfLayout(chart).digest}, signed`
}
