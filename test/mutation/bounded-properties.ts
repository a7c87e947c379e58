import '../support/properties.ts';
import fc from 'fast-check';

// A mutated file counts its steps, so that tight loops take up to 60 times as long: properties run for two seconds at
// most. A killed mutant needs no smallest case.
fc.installGlobalPlugin(fc.interruptAfterTimeLimit(2000));
fc.configureGlobal({ ...fc.readConfigureGlobal(), endOnFailure: true });
