/** Stops at the first counterexample without shrinking it: a mutant's counterexample is never read. */
import fc from 'fast-check'

fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true })
