/** The page of a version on GitHub: a draft until all files are there. */
import type { CommandOptions, CommandRunner } from './run-command.ts'

/** A page to write. */
export interface ReleaseDraft {
  readonly repository: string
  readonly tag: string
  /** File with the text of the page. */
  readonly notes: string
  /** Paths of the files. */
  readonly files: readonly string[]
}

/** How gh is run: it finds its token in the environment. */
export const GH_OPTIONS: CommandOptions = { secrets: ['GH_TOKEN'] }

/** @returns whether the page exists, and whether people see it */
export async function pageState({ repository, tag }: ReleaseDraft, run: CommandRunner): Promise<'none' | 'draft' | 'published'> {
  try {
    const page = await run('gh', ['release', 'view', tag, '--repo', repository, '--json', 'isDraft'], GH_OPTIONS)
    return (JSON.parse(page) as { readonly isDraft: boolean }).isDraft ? 'draft' : 'published'
  } catch (error) {
    if (error instanceof Error && error.message.includes('release not found')) return 'none'
    throw error
  }
}

/** @returns commands that create a draft, if there is none, and write its text and files */
export function draftCommands({ repository, tag, notes, files }: ReleaseDraft, exists: boolean): readonly (readonly string[])[] {
  const repo = ['--repo', repository]
  return [
    exists
      ? ['release', 'edit', tag, ...repo, '--notes-file', notes]
      : ['release', 'create', tag, ...repo, '--draft', '--verify-tag', '--title', tag, '--notes-file', notes],
    ['release', 'upload', tag, ...repo, '--clobber', ...files],
  ]
}

/** @returns command that shows the page to everyone */
export function publishCommand({ repository, tag }: ReleaseDraft): readonly string[] {
  return ['release', 'edit', tag, '--repo', repository, '--draft=false', '--latest']
}
