import { z } from 'zod'
import type { Frozen } from '../fields.ts'

/** Manifests to check, as JSON carries them; YAML may be sent as it is. */
export const validateRequestSchema = z
  .strictObject({ manifests: z.string().meta({ description: 'Documents in YAML or JSON, as `kubectl apply -f` takes them.' }) })
  .meta({ id: 'ValidateRequest' })

const findingSchema = z.object({
  document: z.int().min(1).meta({ description: 'Which of the documents, from 1; empty ones do not count.' }),
  object: z.string().meta({ description: '`Kind/name` of the document, as far as it says.' }),
  rule: z.string().meta({ description: 'Code of the rule.' }),
  path: z.string(),
  value: z.unknown().optional().meta({ description: 'What stands there; absent when nothing does.' }),
  message: z.string(),
  fix: z.string().meta({ description: 'What to write instead.' }),
})
/** @see validateAnswerSchema */
export type ManifestFinding = Frozen<z.infer<typeof findingSchema>>

/** What is wrong with manifests, and what could be better. */
export const validateAnswerSchema = z
  .object({
    valid: z.boolean().meta({ description: 'Whether there are no problems; advice does not count.' }),
    problems: z.array(findingSchema),
    advice: z.array(findingSchema),
  })
  .meta({ id: 'ValidateAnswer' })
/** @see validateAnswerSchema */
export type ValidateAnswer = Frozen<z.infer<typeof validateAnswerSchema>>

/** Who sends a request, as the API server knows them. */
export const meSchema = z
  .object({
    username: z.string(),
    uid: z.string().optional(),
    groups: z.array(z.string()),
    csrfToken: z
      .string()
      .optional()
      .meta({ description: 'Only in the session of a browser: to be sent as `X-CSRF-Token` with each write.' }),
  })
  .meta({ id: 'Me' })
/** @see meSchema */
export type Me = Frozen<z.infer<typeof meSchema>>
