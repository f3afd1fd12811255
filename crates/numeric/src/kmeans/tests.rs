//! Known clusters, fixed points, and refusals.

use super::*;

/// Three round clouds far apart, a hundred rows each.
fn clouds() -> Vec<f64> {
    let mut values = vec![0.0; 300 * 5];
    Stream::new(1, "clouds", 0).fill_normal(&mut values);
    for (row, x) in values.chunks_mut(5).enumerate() {
        x[row % 3] += 30.0;
    }
    values
}

#[test]
fn separate_clouds_are_found_with_their_means() {
    let values = clouds();
    let points = SignedPoints::new(&values, 5).unwrap();
    for seed in 0..10 {
        let found = Clusters::new(points, 3, seed).unwrap();
        assert_eq!(found.sizes, [100; 3]);
        assert!((0..297).all(|row| found.assignment[row] == found.assignment[row + 3]));
        assert!((found.scatter / (300.0 * 5.0) - 1.0).abs() < 0.15);
        let mut mean = [0.0; 5];
        (0..100).for_each(|row| points.add(3 * row, 0.01, &mut mean));
        let centroid = found.centroid(points, 0);
        assert!(
            centroid
                .iter()
                .zip(&mean)
                .all(|(a, b)| (a - b).abs() < 1e-12)
        );
    }
    assert_eq!(Clusters::new(points, 3, 4), Clusters::new(points, 3, 4));
}

#[test]
fn the_result_is_a_fixed_point_of_lloyds_iteration() {
    let mut values = vec![0.0; 2000];
    Stream::new(2, "square", 0).fill_uniform(&mut values);
    let points = SignedPoints::new(&values, 2).unwrap();
    let found = Clusters::new(points, 17, 3).unwrap();
    let mut again = found.clone();
    assert!(!again.assign_points(points));
    assert!((again.scatter / found.scatter - 1.0).abs() < 1e-12);
    again.recentre_clusters(points);
    let pairs = again.centroids.iter().zip(&found.centroids);
    assert!(pairs.into_iter().all(|(a, b)| (a - b).abs() < 1e-12));
    let seeds = seed_centroids(points, 17, 3).unwrap();
    let seeded = Clusters {
        centroids: seeds,
        ..found.clone()
    };
    assert!(found.scatter < seeded.within_scatter(points));
}

#[test]
fn duplicates_are_one_point_and_more_clusters_than_points_are_refused() {
    let values: Vec<f64> = (0..60).map(|i| f64::from(i % 3)).collect();
    let points = SignedPoints::new(&values, 1).unwrap();
    let found = Clusters::new(points, 3, 1).unwrap();
    assert_eq!((found.scatter, &found.sizes[..]), (0.0, &[20, 20, 20][..]));
    let error = Clusters::new(points, 4, 1).unwrap_err();
    assert_eq!(
        error,
        ClusterError::Clusters {
            clusters: 4,
            distinct: 3
        }
    );
    assert!(
        error
            .to_string()
            .starts_with("k-means: expected between 1 and 3 clusters, found 4")
    );
    assert!(Clusters::new(points, 0, 1).is_err());
    assert!(Clusters::new(SignedPoints::new(&[], 2).unwrap(), 1, 1).is_err());
}

#[test]
fn an_empty_cluster_takes_the_farthest_row() {
    let values = [0.0, 1.0, 2.0, 50.0];
    let points = SignedPoints::new(&values, 1).unwrap();
    let mut found = Clusters {
        centroids: vec![1.0, 1e9],
        assignment: vec![0; 4],
        sizes: vec![4, 0],
        scatter: 0.0,
        iterations: 0,
    };
    assert!(found.refill_empty(points));
    assert_eq!(
        (&found.assignment[..], &found.sizes[..]),
        (&[0, 0, 0, 1][..], &[3, 1][..])
    );
    assert_eq!(found.centroids[1], 50.0);
}

#[test]
fn seeds_are_drawn_by_squared_distance() {
    // Given a first centre at 0, the rows at 1 and 3 are drawn with odds 1 to 9.
    let mut counts = [0_i32; 4];
    for seed in 0..4000 {
        let points = SignedPoints::new(&[0.0, 1.0, 3.0], 1).unwrap();
        let seeds = seed_centroids(points, 2, seed).unwrap();
        if seeds[0] == 0.0 {
            counts[seeds[1] as usize] += 1;
        }
    }
    let total = f64::from(counts[1] + counts[3]);
    let error = (f64::from(counts[3]) - 0.9 * total) / (0.09 * total).sqrt();
    assert!(counts[0] == 0 && error.abs() < 4.0, "{counts:?}");
}

#[test]
fn signed_rows_are_rows_times_their_labels() {
    let values = clouds();
    let labels: Vec<bool> = (0..300).map(|row| row % 7 < 4).collect();
    let negated: Vec<f64> = values
        .chunks(5)
        .zip(&labels)
        .flat_map(|(row, &label)| row.iter().map(move |x| if label { *x } else { -x }))
        .collect();
    let signed = SignedPoints::new(&values, 5)
        .unwrap()
        .with_signs(&labels)
        .unwrap();
    let plain = SignedPoints::new(&negated, 5).unwrap();
    assert_eq!(Clusters::new(signed, 6, 1), Clusters::new(plain, 6, 1));
}

#[test]
fn bad_rows_are_refused() {
    assert!(matches!(
        SignedPoints::new(&[1.0; 5], 2),
        Err(ClusterError::Shape { .. })
    ));
    assert!(matches!(
        SignedPoints::new(&[], 0),
        Err(ClusterError::Shape { .. })
    ));
    let bad = [0.0, 0.0, f64::NAN, 0.0];
    assert_eq!(
        SignedPoints::new(&bad, 2).unwrap_err(),
        ClusterError::Value { row: 1 }
    );
    let points = SignedPoints::new(&[1.0; 4], 2).unwrap();
    assert!(matches!(
        points.with_signs(&[true]),
        Err(ClusterError::Labels { .. })
    ));
}
