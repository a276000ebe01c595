"""Run pages: verdict, slices, histograms, log lines, downloads. webapp/register/tables has tables of runs."""
